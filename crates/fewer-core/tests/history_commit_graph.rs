//! The commit graph and its dominators against brute force on random histories with several roots and merges of
//! many parents, and on the shapes that are slow for naive algorithms.

use std::collections::BTreeSet;

use fewer_core::{CommitGraph, CommitGraphBuilder, CommitIndex, Dominators};
use proptest::prelude::*;

/// Parents of every commit, each smaller than its child.
fn histories() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let commit = prop::collection::vec(any::<prop::sample::Index>(), 0..5);
    prop::collection::vec((commit, 0..10u8), 1..28).prop_map(|commits| {
        let mut history: Vec<Vec<u32>> = Vec::new();
        for (index, (picks, kind)) in commits.into_iter().enumerate() {
            // Mostly one or two parents, near the end as in real histories; now and then a root or an octopus.
            let count = match kind {
                0 => 0,
                1..=4 => 1,
                5..=8 => 2,
                _ => 4,
            };
            let reach = index.min(8);
            let mut parents: Vec<u32> = Vec::new();
            for pick in picks.iter().take(count.min(reach)) {
                let parent = (index - 1 - pick.index(reach)) as u32;
                if !parents.contains(&parent) {
                    parents.push(parent);
                }
            }
            history.push(parents);
        }
        history
    })
}

fn build(history: &[Vec<u32>]) -> CommitGraph {
    let mut builder = CommitGraphBuilder::new();
    for parents in history {
        let parents: Vec<CommitIndex> = parents.iter().copied().map(CommitIndex).collect();
        builder.commit(&parents);
    }
    builder.build()
}

/// Per commit all its ancestors, itself included.
fn ancestors(history: &[Vec<u32>]) -> Vec<BTreeSet<u32>> {
    let mut sets: Vec<BTreeSet<u32>> = Vec::new();
    for (index, parents) in history.iter().enumerate() {
        let mut set = BTreeSet::from([index as u32]);
        parents.iter().for_each(|&parent| set.extend(sets[parent as usize].iter().copied()));
        sets.push(set);
    }
    sets
}

/// Per commit all commits without which no root is reached, itself included: by removing each in turn.
fn dominators(history: &[Vec<u32>]) -> Vec<BTreeSet<u32>> {
    let reaches_root_without = |start: u32, removed: u32| {
        let mut stack = vec![start];
        while let Some(commit) = stack.pop() {
            if commit == removed {
                continue;
            }
            if history[commit as usize].is_empty() {
                return true;
            }
            stack.extend(&history[commit as usize]);
        }
        false
    };
    let commits = 0..history.len() as u32;
    commits
        .clone()
        .map(|commit| commits.clone().filter(|&removed| !reaches_root_without(commit, removed)).collect())
        .collect()
}

fn numbers(commits: impl IntoIterator<Item = CommitIndex>) -> Vec<u32> {
    commits.into_iter().map(|commit| commit.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn ancestors_merge_bases_and_paths_are_those_of_brute_force(history in histories()) {
        let graph = build(&history);
        let above = ancestors(&history);
        prop_assert_eq!(graph.len(), history.len());
        for a in graph.commits() {
            let all: Vec<u32> = above[a.index()].iter().copied().collect();
            prop_assert_eq!(numbers(graph.between(None, a)), all);
            prop_assert_eq!(numbers(graph.parents(a).iter().copied()), history[a.index()].clone());
            for b in graph.commits() {
                prop_assert_eq!(graph.is_ancestor(a, b), above[b.index()].contains(&a.0));
                let common: BTreeSet<u32> = &above[a.index()] & &above[b.index()];
                let is_best = |base: &u32| {
                    !common.iter().any(|other| other != base && above[*other as usize].contains(base))
                };
                let bases: Vec<u32> = common.iter().copied().filter(is_best).collect();
                prop_assert_eq!(numbers(graph.merge_bases(a, b)), bases);
                let between: Vec<u32> =
                    above[b.index()].iter().copied().filter(|&c| above[c as usize].contains(&a.0)).collect();
                prop_assert_eq!(numbers(graph.between(Some(a), b)), between);
            }
        }
        let roots: Vec<u32> = (0..history.len() as u32).filter(|&c| history[c as usize].is_empty()).collect();
        prop_assert_eq!(numbers(graph.roots()), roots);
    }

    #[test]
    fn merge_bases_of_several_are_those_of_an_imagined_merge(history in histories(), picks in any::<[prop::sample::Index; 3]>()) {
        let [a, b, c] = picks.map(|pick| CommitIndex(pick.index(history.len()) as u32));
        let mut with_merge = history.clone();
        with_merge.push(vec![b.0, c.0]);
        let merge = CommitIndex(history.len() as u32);
        let mut expected = build(&with_merge).merge_bases(a, merge);
        expected.retain(|&base| base != merge);
        prop_assert_eq!(build(&history).merge_bases_of(a, &[b, c]), expected);
    }

    #[test]
    fn dominators_are_the_commits_that_no_path_avoids(history in histories()) {
        let graph = build(&history);
        let found = Dominators::of(&graph);
        let all = dominators(&history);
        // The nearest of a chain of dominators is the one with most dominators itself.
        let nearest = |set: &BTreeSet<u32>| set.iter().copied().max_by_key(|&d| all[d as usize].len()).map(CommitIndex);
        for a in graph.commits() {
            let mut strict = all[a.index()].clone();
            strict.remove(&a.0);
            prop_assert_eq!(found.immediate(a), nearest(&strict));
            prop_assert_eq!(found.common_of(graph.parents(a)), found.immediate(a));
            for b in graph.commits() {
                prop_assert_eq!(found.common(a, b), nearest(&(&all[a.index()] & &all[b.index()])));
            }
        }
    }
}

#[test]
fn criss_cross_merges_have_two_merge_bases_and_their_fork_as_dominator() {
    // 0 - 1 - 3 - 5      3 and 4 merge 1 and 2 both
    //   \   X   /
    //     2 - 4
    let graph = build(&[vec![], vec![0], vec![0], vec![1, 2], vec![2, 1], vec![3, 4]]);
    assert_eq!(numbers(graph.merge_bases(CommitIndex(3), CommitIndex(4))), [1, 2]);
    assert_eq!(Dominators::of(&graph).immediate(CommitIndex(5)), Some(CommitIndex(0)));
}

#[test]
fn unrelated_histories_share_only_the_virtual_root() {
    let graph = build(&[vec![], vec![], vec![0, 1]]);
    let dominators = Dominators::of(&graph);
    assert_eq!(graph.merge_bases(CommitIndex(0), CommitIndex(1)), []);
    assert_eq!(dominators.immediate(CommitIndex(2)), None);
    assert_eq!(dominators.common_of(&[]), None);
    assert_eq!(numbers(graph.between(None, CommitIndex(2))), [0, 1, 2]);
    assert_eq!(graph.between(Some(CommitIndex(0)), CommitIndex(1)), []);
}

#[test]
fn a_long_chain_with_a_branch_from_its_start_needs_neither_stack_nor_quadratic_time() {
    // Every merge joins a branch that left long ago: intersecting step by step would walk the whole chain.
    let count = 200_000u32;
    let mut builder = CommitGraphBuilder::with_capacity(count as usize, 2 * count as usize);
    let mut head = builder.commit(&[]);
    let root = head;
    let mut side = builder.commit(&[root]);
    while builder.len() < count as usize {
        let next = builder.commit(&[head]);
        head = if next.0.is_multiple_of(3) { builder.commit(&[next, side]) } else { next };
        if next.0.is_multiple_of(64) {
            side = builder.commit(&[side]);
        }
    }
    let graph = builder.build();
    let dominators = Dominators::of(&graph);
    assert_eq!(dominators.common(head, side), Some(root));
    assert!(graph.is_ancestor(root, head));
    assert_eq!(graph.merge_bases(head, root), [root]);
}

#[test]
#[should_panic(expected = "a parent that was not added before its child")]
fn a_parent_must_come_before_its_child() {
    CommitGraphBuilder::new().commit(&[CommitIndex(0)]);
}
