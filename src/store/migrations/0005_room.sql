-- Room on every page for two more versions of each of its rows: a run that was delayed, or stood in line for a limit, is
-- made ready in the second, and claimed in the third. While somebody holds an old snapshot none of them can go; with less
-- room the third would stand on another page, and every index would be written for it.
alter table {runs} set (fillfactor = 30);
