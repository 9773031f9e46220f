// A project as a user has it: the packed package, installed by npm, and the
// files of `tests/consumer`. `node consumer.mjs` makes it anew.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { consumer, file, root } from './paths.mjs';

const run = (program, args, cwd) => {
  console.log(`  $ ${program} ${args.join(' ')}`);
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
};

rmSync(consumer, { recursive: true, force: true });
mkdirSync(consumer, { recursive: true });
const packed = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', consumer], file(root, 'wasm')));
const [{ filename, files, size }] = packed;
console.log(`  ${filename}: ${size} bytes, ${files.map(({ path }) => path).join(', ')}`);
const unwanted = files.filter(({ path }) => !/^(dist\/|README|LICENSE|package\.json)/.test(path));
if (unwanted.length) throw new Error(`the package has files that nobody needs: ${JSON.stringify(unwanted)}`);

writeFileSync(file(consumer, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], consumer);
cpSync(file(root, 'wasm/tests/consumer'), consumer, { recursive: true });
mkdirSync(file(consumer, 'public'));
cpSync(file(root, 'wasm/page/digits.koan'), file(consumer, 'public/digits.koan'));
// Its tools, of the versions that are pinned.
for (const tool of ['vite', 'typescript']) {
  symlinkSync(file(root, 'wasm/node_modules', tool), file(consumer, 'node_modules', tool));
}
run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], consumer);
run(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'], consumer);
