// Checks the types, and bundles each entry of the package into `dist/`.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { minifySync } from 'rolldown/utils';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Where the entries of a name take their wasm from: a file of `js/host`. */
const HOSTS = {
  index: 'page',
  node: 'node',
  slim: 'slim',
  json: 'json',
  'json-node': 'json-node',
  workerd: 'workerd',
  'workerd-json': 'workerd-json',
};
const options = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  external: ['node:*', '*.wasm'],
  logLevel: 'warning',
};
const commonJs = { format: 'cjs', platform: 'node' };
/** In CommonJS a script knows its file, not its address. */
const withAddress = {
  define: { 'import.meta.url': 'scriptUrl' },
  banner: { js: "const scriptUrl=require('node:url').pathToFileURL(__filename).href;" },
};

/** Those that `require` finds too, and whether they read files beside them. */
const COMMON_JS = { node: withAddress, slim: {}, 'json-node': withAddress };

/** An entry's own host in place of the page's. */
const hostOf = (host) => ({
  name: 'host',
  setup(build) {
    build.onResolve({ filter: /\/host\/page\.js$/ }, () => ({ path: at(`js/host/${host}.ts`) }));
  },
});

/** Makes a script smaller once more: names that start anew in every function compress better. */
function minify(file) {
  const { code, errors } = minifySync(file, readFileSync(file, 'utf8'), { module: true, compress: { target: 'es2022' } });
  if (errors.length) throw new Error(`${file}: ${errors[0].message}`);
  // Some bundlers find the wasm by plain quotes only.
  writeFileSync(file, code.replace(/new URL\(`([^`$]+)`/g, 'new URL("$1"'));
}

/** Declarations for both kinds of modules: those of the entries, and what they refer to. */
function declarations(entries) {
  const folder = mkdtempSync(join(tmpdir(), 'koan-wasm-'));
  try {
    const arguments_ = [at('node_modules/typescript/bin/tsc'), '-p', at('tsconfig.json'), '--outDir', folder];
    execFileSync(process.execPath, arguments_, { stdio: 'inherit' });
    const names = new Set(entries);
    for (const name of names) {
      const text = readFileSync(join(folder, `js/${name}.d.ts`), 'utf8');
      const others = /(from |import\()'\.\/([\w-]+)\.js'/g;
      for (const [, , other] of text.matchAll(others)) names.add(other);
      writeFileSync(at(`dist/${name}.d.ts`), text);
      writeFileSync(at(`dist/${name}.d.cts`), text.replace(others, "$1'./$2.cjs'"));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What the wasm was compiled from, and with. */
function origin() {
  const printed = (program, ...args) => {
    try {
      const options = { cwd: at('.'), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
      return execFileSync(program, args, options).trim();
    } catch {
      return 'unknown';
    }
  };
  const { devDependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  return {
    commit: printed('git', 'describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'),
    rustc: printed('rustc', '--version'),
    binaryen: devDependencies.binaryen,
    command: 'cargo xtask npm',
  };
}

rmSync(at('dist'), { recursive: true, force: true });
mkdirSync(at('dist'));
declarations(['index', 'columns']);
for (const [name, host] of Object.entries(HOSTS)) {
  const entry = { ...options, entryPoints: [at('js/index.ts')], plugins: [hostOf(host)] };
  await build({ ...entry, outfile: at(`dist/${name}.js`) });
  minify(at(`dist/${name}.js`));
  const also = COMMON_JS[name];
  if (also) await build({ ...entry, ...commonJs, ...also, outfile: at(`dist/${name}.cjs`) });
}
const columns = { ...options, entryPoints: [at('js/columns.ts')] };
await build({ ...columns, outfile: at('dist/columns.js') });
minify(at('dist/columns.js'));
await build({ ...columns, ...commonJs, outfile: at('dist/columns.cjs') });
const sha256 = {};
for (const name of ['koan.wasm', 'koan-simd.wasm', 'koan-tables.wasm', 'koan-images.wasm', 'koan-json.wasm']) {
  const bytes = readFileSync(at(`build/${name}`));
  writeFileSync(at(`dist/${name}`), bytes);
  sha256[name] = createHash('sha256').update(bytes).digest('hex');
}
writeFileSync(at('dist/provenance.json'), `${JSON.stringify({ ...origin(), sha256 }, undefined, 2)}\n`);
for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT']) cpSync(at(`../${licence}`), at(licence));
