#!/usr/bin/env bash
# Creates a git repository in DEST: the library as it is here, then the changes of history/. Authors and dates are
# fixed, so every run gives the same commit ids.
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: history.sh DEST" >&2
  exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dest=$1
if [ -e "$dest" ] && { [ ! -d "$dest" ] || [ -n "$(ls -A "$dest")" ]; }; then
  echo "history.sh: $dest exists and is not an empty directory; name a new one" >&2
  exit 2
fi

# Nothing of the user's own git settings, hooks or surrounding repository may change the result.
unset "${!GIT_@}"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME="Ada Example" GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL

# at DATE COMMAND...: runs a git command that commits with this date.
at() {
  GIT_AUTHOR_DATE=$1 GIT_COMMITTER_DATE=$1 git "${@:2}"
}

# apply PATCH: commits a patch with the author, date and message in it.
apply() {
  git am --quiet --committer-date-is-author-date "$here/history/$1.patch"
}

mkdir -p "$dest"
cd "$dest"
git init --quiet --initial-branch=main --object-format=sha1
for part in .gitignore fewer.toml CMakeLists.txt Makefile Makefile.am configure.ac include src tests; do
  cp -R "$here/$part" .
done
git add --all
at 2024-03-04T09:00:00Z commit --quiet --message "abacus: numbers, units, statistics and expressions"

apply 01-explain-percentiles
apply 02-refuse-integers-without-digits
apply 03-accounting-not-available
apply 04-test-not-available
apply 05-multiples-without-overflow

git switch --quiet --create hyperbolic
apply 06-hyperbolic-functions

git switch --quiet main
apply 07-survey-mile
survey_mile=$(git rev-parse HEAD)
apply 08-rename-token
at 2024-03-08T09:00:00Z merge --quiet --no-ff --message "Merge branch 'hyperbolic'" hyperbolic
at 2024-03-08T15:00:00Z revert --no-edit "$survey_mile" >/dev/null
