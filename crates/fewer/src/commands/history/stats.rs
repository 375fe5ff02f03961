//! `fewer history stats`: how often a repository was merged, rebased, picked and reverted. It needs git alone and
//! leaves nothing behind.

use fewer_console::{Console, ExitCode, Interrupted};
use fewer_git::{
    Attempt, AutoMerges, CommitLog, CommitRecord, HistoryStatistics, PatchIds, RedoneMerges, Rehearsal,
    Rehearsed, Repository, Scope,
};
use fewer_report::{AutoMergesView, HistoryStatsView, MainBranchView};
use fewer_runners::Cancel;

use crate::cli::{Global, StatsOptions, TableFormat};
use crate::history::Pace;
use crate::project::start_directory;
use crate::timings::Timings;

pub fn execute(global: &Global, console: &Console, options: &StatsOptions) -> anyhow::Result<ExitCode> {
    let timings = Timings::new(console.pulse());
    fewer_lifetime::end_in_order();
    let cancel = Cancel::with(fewer_lifetime::stopped());
    let repository = Repository::open(&start_directory()?)?;
    let scope = match &options.range {
        Some(range) => Scope::Range(repository.range(range)?),
        None => Scope::All,
    };
    let patch_ids = if options.patch_ids { PatchIds::Compare } else { PatchIds::Skip };
    let mut statistics = {
        let _phase = timings.phase("read the history");
        let gathered =
            HistoryStatistics::gather(&repository, &scope, AutoMerges::Skip, patch_ids, &mut |_| ());
        go_on(&cancel)?;
        gathered?
    };
    if !options.no_auto_merges && statistics.merges > 0 {
        let _phase = timings.phase("redo merges");
        statistics.redone = Some(redo(&repository, &scope, console, &cancel)?);
    }
    let mut notes = repository.condition()?.caveats();
    notes.extend(unreadable_note(&statistics));
    notes.iter().for_each(|note| console.note(note));
    let view = view(&statistics, options.range.clone(), notes);
    console.data(&match options.format {
        TableFormat::Table => view.text(),
        TableFormat::Json => view.json(),
        TableFormat::Csv => view.csv(),
    })?;
    if global.timings {
        console.insist(timings.table().trim_end());
    }
    Ok(ExitCode::Green)
}

fn unreadable_note(statistics: &HistoryStatistics) -> Option<String> {
    let unreadable = statistics.unreadable_patches;
    (unreadable > 0).then(|| {
        format!(
            "the patches of {unreadable} commits could not be compared, because objects are missing here: cherry-picks of \
             them are not counted. `git fetch --refetch origin` gets what the origin has"
        )
    })
}

/// Redoes every merge, some at a time.
fn redo(
    repository: &Repository,
    scope: &Scope,
    console: &Console,
    cancel: &Cancel,
) -> anyhow::Result<RedoneMerges> {
    let log = CommitLog::read(repository, scope)?;
    let merges: Vec<&CommitRecord> = log.records.iter().filter(|record| record.parents.len() > 1).collect();
    let rehearsal = Rehearsal::new(repository)?;
    let mut progress = console.progress(merges.len());
    let mut redone = RedoneMerges::default();
    let (mut pace, mut left) = (Pace::new(), &merges[..]);
    while let Some(batch) = pace.next(&mut left) {
        let attempts: Vec<Attempt> =
            batch.iter().map(|merge| Attempt::Merge(merge.parents.clone())).collect();
        let mut shown = 0;
        let results = rehearsal.try_all(&attempts, &mut |so_far| {
            (shown..so_far.done).for_each(|_| progress.advance("merges are redone"));
            shown = shown.max(so_far.done);
        });
        // Ctrl-C reaches git too, which then fails.
        go_on(cancel)?;
        for (merge, rehearsed) in batch.iter().zip(results?) {
            match rehearsed {
                Rehearsed::Clean { tree } if tree == merge.tree => redone.automatic += 1,
                Rehearsed::Clean { .. } | Rehearsed::Conflict { .. } => redone.manual += 1,
                Rehearsed::Impossible(_) => redone.impossible += 1,
            }
        }
    }
    Ok(redone)
}

fn go_on(cancel: &Cancel) -> anyhow::Result<()> {
    if cancel.is_cancelled() { Err(Interrupted.into()) } else { Ok(()) }
}

fn view(statistics: &HistoryStatistics, range: Option<String>, notes: Vec<String>) -> HistoryStatsView {
    let auto = |RedoneMerges { automatic, manual, impossible }| AutoMergesView {
        automatic,
        manual,
        impossible,
        share: statistics.auto_merge_share(),
    };
    HistoryStatsView {
        range,
        commits: statistics.commits,
        authors: statistics.authors,
        merges: statistics.merges,
        rebases: statistics.rebases,
        cherry_picks: statistics.cherry_picks,
        reverts: statistics.reverts,
        rewritten: statistics.rewritten,
        operations_share: statistics.operations_share(),
        main: MainBranchView {
            commits: statistics.main.commits,
            merges: statistics.main.merges,
            merge_share: statistics.main_merge_share(),
        },
        auto_merges: statistics.redone.map(auto),
        notes,
    }
}
