import { existsSync } from 'node:fs'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { describeStartError } from '../start-error.ts'
import { BALANCE, LEDGER, STATEMENT } from './cli-balance-ledger-statement.ts'
import { RECEIPT } from './cli-print-receipts.ts'
import { REBUILD_TILES, ROTATE_KEY } from './cli-rebuild-tiles-rotate-key.ts'
import { CommandError, type Invocation, type Verb } from './cli-verb-and-site-access.ts'
import { EXPORT, REPLAY, VERIFY } from './cli-verify-export-replay.ts'
import { RECOMPUTE, VERIFY_RECEIPT, WITNESS } from './cli-verify-receipt-witness-recompute.ts'

const VERBS: ReadonlyMap<string, Verb> = new Map([
  ['verify', VERIFY],
  ['export', EXPORT],
  ['replay', REPLAY],
  ['balance', BALANCE],
  ['ledger', LEDGER],
  ['statement', STATEMENT],
  ['recompute', RECOMPUTE],
  ['receipt', RECEIPT],
  ['verify-receipt', VERIFY_RECEIPT],
  ['witness', WITNESS],
  ['rotate-key', ROTATE_KEY],
  ['rebuild-tiles', REBUILD_TILES],
])

/**
 * The exit code if SIGINT, SIGTERM or SIGHUP interrupted the program. It is 128 + 2, which is the
 * convention of shells for SIGINT.
 */
const INTERRUPTED = 130

const COMMON = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsOptionsConfig

const usage = (): string => {
  const lines = [...VERBS.values()].map(({ form, summary }) => `  ${form.padEnd(44)}${summary}`)
  return `Usage: npm run audit -- VERB …

${lines.join('\n')}

Every verb takes --json and --help. The site is the one of DATABASE_URL or DATA_DIR (default .data),
whether it is running or not. Exit code 0: done, nothing was found; 1: something was found, or
failed; 2: wrong arguments; 130: interrupted.
`
}

/**
 * Runs one verb of the audit program, such as `verify`, with its command-line arguments. Returns
 * the exit code. If `signal` ended the verb, the exit code is 130, as shells expect after Ctrl-C.
 */
export async function runAuditProgram(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number> {
  const [name = '', ...others] = args
  const verb = VERBS.get(name)
  try {
    if (verb === undefined) {
      if (['', '--help', '-h', 'help'].includes(name)) {
        process.stdout.write(usage())
        return name === '' ? 2 : 0
      }
      throw new CommandError(`unknown verb "${name}"; --help lists them`)
    }
    const { values, positionals } = parsed(others, verb)
    if (values.help === true) {
      process.stdout.write(`Usage: npm run audit -- ${verb.form}\n\n${verb.help}\n`)
      return 0
    }
    const surplus = positionals[verb.argumentsMax]
    if (surplus !== undefined) {
      const usage = `npm run audit -- ${verb.form}`
      throw new CommandError(`"${surplus}" is one argument too many. Usage: ${usage}`)
    }
    const invocation: Invocation = { values, positionals, environment, signal }
    return await verb.run(invocation)
  } catch (error) {
    if (signal.aborted) return INTERRUPTED
    const isUsage = error instanceof CommandError
    const text = isUsage ? error.message : describeStartError(error)
    process.stderr.write(`${text.replace("Tallygate can't start. ", '')}\n`)
    return isUsage ? 2 : 1
  }
}

function parsed(args: readonly string[], { options }: Verb) {
  try {
    const config = { ...COMMON, ...options }
    return parseArgs({ args: [...args], options: config, allowPositionals: true })
  } catch (error) {
    throw new CommandError((error as Error).message)
  }
}

if (process.argv[1] === import.meta.filename) {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const aborting = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // This line is written immediately, because the program may take a while to end: the program
    // first removes unfinished tables.
    process.on(name, () => {
      if (!aborting.signal.aborted) process.stderr.write('\nInterrupted.\n')
      aborting.abort()
    })
  }
  process.exitCode = await runAuditProgram(process.argv.slice(2), process.env, aborting.signal)
}
