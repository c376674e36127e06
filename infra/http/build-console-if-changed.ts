import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const ROOT = resolve(import.meta.dirname, '../..')
const SOURCES = ['console', 'read-api/contract', 'write-api/contract', 'package-lock.json']
const DIST = join(ROOT, 'console/dist')
const STAMP = '.built-from'
const CACHE = join(ROOT, 'node_modules/.cache')

/**
 * Builds the console if its sources have changed. Returns the folder to serve, or null if there is
 * neither a build nor Vite.
 */
export async function ensureConsoleBuilt(
  printLine: (line: string) => void,
): Promise<string | null> {
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js')
  const isBuilt = existsSync(join(DIST, 'index.html'))
  if (!existsSync(vite)) return isBuilt ? DIST : null
  const sources = hashOfSources()
  const stamp = join(DIST, STAMP)
  if (isBuilt && existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return DIST
  printLine('building the console (once)…')
  mkdirSync(CACHE, { recursive: true })
  const part = mkdtempSync(join(CACHE, 'console-'))
  await run(vite, part)
  compress(part)
  writeFileSync(join(part, STAMP), sources)
  replaceBuild(part)
  return DIST
}

/**
 * Moves the finished build into its final folder, so that the served folder never contains files of
 * two builds.
 */
function replaceBuild(part: string): void {
  // A temporary folder is readable only by its owner. The mode is changed, because another user may
  // start the product next.
  chmodSync(part, 0o755)
  const old = `${part}-old`
  try {
    if (existsSync(DIST)) renameSync(DIST, old)
    renameSync(part, DIST)
  } catch (error) {
    // The rename fails if another process has already put a build in place.
    rmSync(part, { recursive: true, force: true })
    if (!existsSync(join(DIST, 'index.html'))) throw error
  }
  rmSync(old, { recursive: true, force: true })
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  for (const source of SOURCES) addTo(hash, join(ROOT, source))
  return hash.digest('hex')
}

function addTo(hash: ReturnType<typeof createHash>, path: string): void {
  if (path === DIST || !existsSync(path)) return
  if (!statSync(path).isDirectory()) {
    hash.update(path.slice(ROOT.length)).update(readFileSync(path))
    return
  }
  for (const entry of readdirSync(path).sort()) addTo(hash, join(path, entry))
}

/**
 * Writes a Brotli and a gzip version of each text file, so that the server need not compress them.
 */
function compress(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) compress(path)
    else if (/\.(js|css|svg|html|json)$/.test(entry.name)) {
      const bytes = readFileSync(path)
      writeFileSync(`${path}.br`, brotliCompressSync(bytes))
      writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
    }
  }
}

function run(vite: string, folder: string): Promise<void> {
  return new Promise((done, failed) => {
    const options = ['--outDir', folder, '--emptyOutDir', '--logLevel', 'warn']
    const child = spawn(process.execPath, [vite, 'build', 'console', ...options], {
      cwd: ROOT,
      // `NODE_ENV` is set here, because a test or a development server may start the build with
      // another value.
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    child.on('error', failed)
    child.on('exit', (code) => {
      if (code === 0) done()
      else failed(new Error(`the console could not be built (exit ${code})`))
    })
  })
}

if (import.meta.main) await ensureConsoleBuilt((line) => void process.stdout.write(`${line}\n`))
