import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { MANIFEST_FILE, manifestOf } from './export-format.ts'
import { openExport } from './export-reader.ts'
import {
  countDifferentKeys,
  NOTE_LENGTH_MAX,
  notesIn,
  parseVerifierKey,
  parseWitnessKey,
} from './signed-checkpoint.ts'
import { printable, reportJson, reportText } from './verification-report-text.ts'
import { verifyExport } from './verify-export.ts'
import { areReceiptsProved, receiptText, verifyReceiptFiles } from './verify-receipt-files.ts'

const USAGE = `Usage: node verify.mjs [FOLDER | FILE.tar] [OPTION]…

  --key KEY               a key of the site, as it was published; may be repeated
  --earlier EXPORT|FILE   an earlier export, or a file of signed checkpoints; may be repeated
  --receipt FILE          verify receipts instead of an export; may be repeated; needs --key
  --witness KEY           a key of a witness, as it was published; may be repeated
  --quorum N              how many of these witnesses must have signed (default: all)
  --json                  print the report as JSON

Verifies an export of recorded events. Exit code 0: nothing was found; 1: something was found, or
none of the receipts is proved; 2: the arguments or the export could not be read.
`

/**
 * Returns the signed checkpoints in a file or in an earlier export. A file can hold several
 * checkpoints, such as the file to which the site appends its checkpoints
 * (`TRANSPARENCY_LOG_FILE`). Such a file is read while the caller iterates.
 */
export function earlierCheckpoints(path: string): Iterable<string> {
  if (!existsSync(path)) throw new Error(`${path} does not exist`)
  if (statSync(path).isFile() && isFileOfNotes(path)) return readNotes(path)
  const reader = openExport(path)
  try {
    const manifest = reader.read(MANIFEST_FILE)
    if (manifest === null) throw new Error(`${path} is neither an export nor a checkpoint`)
    return manifestOf(manifest.toString()).signedCheckpoints
  } finally {
    reader.close()
  }
}

function* checkpointsIn(files: readonly Iterable<string>[]): Generator<string> {
  for (const file of files) yield* file
}

/**
 * Reports whether a file holds signed checkpoints. Reads only the beginning of the file, which
 * contains the first checkpoint.
 */
function isFileOfNotes(path: string): boolean {
  const bytes = Buffer.alloc(NOTE_LENGTH_MAX)
  const file = openSync(path, 'r')
  try {
    const beginning = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
    const isArchive = beginning.subarray(257, 262).toString('latin1') === 'ustar'
    return !isArchive && beginning.includes('\n\n— ')
  } finally {
    closeSync(file)
  }
}

const OPTIONS = {
  key: { type: 'string', multiple: true },
  earlier: { type: 'string', multiple: true },
  receipt: { type: 'string', multiple: true },
  witness: { type: 'string', multiple: true },
  quorum: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Runs the offline verifier with command-line arguments. Returns the exit code. */
export async function runVerifier(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      ...{ args: [...args], options: OPTIONS, allowPositionals: true },
    })
    if (values.help === true || positionals.length > 1) {
      process.stdout.write(USAGE)
      return values.help === true ? 0 : 2
    }
    if (values.receipt !== undefined) return runReceipts(values.receipt, values)
    const reader = openExport(positionals[0] ?? '.')
    const earlier = checkpointsIn((values.earlier ?? []).map(earlierCheckpoints))
    const started = performance.now()
    const report = await verifyExport(reader, {
      earlier,
      ...(values.witness === undefined ? {} : witnessesOf(values)),
      ...(values.key === undefined ? {} : { keys: values.key }),
      onProgress: (position, last) => showProgress(position, last),
    })
    reader.close()
    const seconds = (performance.now() - started) / 1_000
    process.stdout.write(values.json === true ? reportJson(report) : reportText(report, seconds))
    return report.findings.total() === 0 ? 0 : 1
  } catch (error) {
    process.stderr.write(`${printable((error as Error).message)}\n`)
    return 2
  }
}

type Options = {
  readonly key?: readonly string[]
  readonly witness?: readonly string[]
  readonly quorum?: string
  readonly json?: boolean
}

/**
 * Returns the keys of the witnesses and, if `--quorum` is given, the number of witnesses that must
 * have signed. Throws if this number is invalid.
 */
function witnessesOf({ witness = [], quorum }: Options) {
  if (quorum === undefined) return { witnesses: witness }
  const count = Number(quorum)
  const countMax = countDifferentKeys(witness.map(parseVerifierKey))
  const isRight = /^\d+$/.test(quorum) && count >= 1 && count <= countMax
  if (!isRight) {
    throw new Error('--quorum is a number from 1 to that of the different --witness keys')
  }
  return { witnesses: witness, quorum: count }
}

function runReceipts(paths: readonly string[], options: Options): number {
  const { key, json } = options
  if (key === undefined) throw new Error('receipts are verified with a key of the site: --key')
  // The keys are parsed first, so that a malformed key is reported as a wrong argument. Otherwise,
  // every receipt would be reported as faulty.
  for (const one of key) parseVerifierKey(one)
  for (const one of options.witness ?? []) parseWitnessKey(one)
  const report = verifyReceiptFiles(paths, { site: key, ...witnessesOf(options) })
  process.stdout.write(json === true ? `${JSON.stringify(report)}\n` : receiptText(report))
  return areReceiptsProved(report) ? 0 : 1
}

/** Shows the progress on stderr. Writes nothing if stderr is not a terminal. */
function showProgress(position: number, last: number): void {
  if (!process.stderr.isTTY) return
  process.stderr.write(position >= last ? '\r\u001b[K' : `\r${position} of ${last} events`)
}

const CHUNK_BYTES = 64 * 1024
const NEWLINE = 10

/**
 * Yields the signed notes in a file one after another. The file is never read as a whole, because
 * the site's own file gets a note for each checkpoint and grows without a limit.
 */
export function* readNotes(path: string): Generator<string> {
  const file = openSync(path, 'r')
  try {
    yield* notesIn(linesOf(file))
  } finally {
    closeSync(file)
  }
}

/**
 * Yields the lines of a file. A line longer than the longest valid note is cut, because it could
 * fill the memory. The verifier still reports the cut line.
 */
function* linesOf(file: number): Generator<string> {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let parts: Buffer[] = []
  let length = 0
  const add = (bytes: Buffer): void => {
    if (length <= NOTE_LENGTH_MAX) parts.push(Buffer.from(bytes))
    length += bytes.length
  }
  const takeLine = (): string => {
    const line = Buffer.concat(parts).toString('utf8')
    parts = []
    length = 0
    return line
  }
  for (;;) {
    const bytes = chunk.subarray(0, readSync(file, chunk))
    if (bytes.length === 0) break
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      add(bytes.subarray(start, end))
      yield takeLine()
      start = end + 1
    }
    add(bytes.subarray(start))
  }
  if (length > 0) yield takeLine()
}

if (process.argv[1]?.endsWith('verify.mjs') === true) {
  void runVerifier(process.argv.slice(2)).then((code) => {
    process.exitCode = code
  })
}
