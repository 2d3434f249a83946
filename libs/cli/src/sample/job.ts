/** The sample's job, for the scripted model and for real ones alike. */
export const goal = `Make an inventory of the source files of this repository.

1. Look at the repository: list its directories, its git state, and count the source files (*.ts, *.mjs, *.proto, *.md, without
   node_modules, dist, .git and generated code).
2. Make a plan with update_plan: one step per batch of three files, and the steps below. Keep it up to date.
3. Write the list of the files to look at (42 of them, between 5 500 and 16 000 bytes) to .inventory/files.txt, and start
   INVENTORY.md with a table: file, lines, exports, SHA-256.
4. For each batch: read the files with read_file, take lines, exports and SHA-256 from one command, and add the rows with edit_file.
5. Search the sources for open ends (TODO, FIXME) and for reads of process.env, and note the counts below the table.
6. Check the syntax of the scripts in scripts/ with node --check.
7. Once an earlier read has been hidden by a compaction, bring one back with restore_tool_result, write its text to
   .inventory/restored.txt, and compare it with the file byte for byte.
8. Check all checksums of the table against the files, mark every criterion with evidence, and finish.`;

export const criteria = [
  'INVENTORY.md lists every file of the list with lines, exports and SHA-256',
  'One tool result hidden by a compaction was restored and its bytes were compared',
  'All checksums of the table were checked against the files',
  'Every script of the repository passes node --check',
];
