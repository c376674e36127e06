import { destination, type Logger, pino } from 'pino'

/** Paths whose values never reach a log, whoever logs them. */
const SECRET_PATHS = [
  'authorization',
  'cookie',
  'password',
  'key',
  'token',
  'secret',
  '*.authorization',
  '*.cookie',
  '*.password',
  '*.key',
  '*.token',
  '*.secret',
  'req.headers',
  'res.headers',
]

/** Of lines that could not be written. */
const KEPT_BYTES_MAX = 65_536

/**
 * JSON lines on standard error; standard output is for what a person is told. Where nobody listens
 * any more, as when a terminal was closed, they are lost: no reason to break off what is under way.
 */
export function createLog(level: string): Logger {
  const output = destination({ dest: 2, sync: true, maxLength: KEPT_BYTES_MAX })
  output.on('error', () => {})
  return pino(
    {
      level,
      base: null,
      redact: { paths: SECRET_PATHS, censor: '[secret]' },
      serializers: { err: describeError, error: describeError },
    },
    output,
  )
}

/** Name, message and place; never the request a driver may hang on its errors. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack } = error
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) }
  return { name, message, ...code, stack, ...cause }
}

const EVERY_MS = 10_000

type Told = { at: number; unsaid: number }

const told = new WeakMap<Logger, Map<string, Told>>()

/**
 * For what comes again and again while something is away: a warning at once, then at most one
 * every ten seconds with the number of those in between (`unsaid`, told at level debug), so that
 * the line that matters does not drown.
 */
export function warnThrottled(
  log: Logger,
  facts: Readonly<Record<string, unknown>>,
  words: string,
) {
  const byWords = told.get(log) ?? new Map<string, Told>()
  told.set(log, byWords)
  const last = byWords.get(words)
  const now = performance.now()
  if (last !== undefined && now - last.at < EVERY_MS) {
    last.unsaid += 1
    log.debug(facts, words)
    return
  }
  byWords.set(words, { at: now, unsaid: 0 })
  const { unsaid = 0 } = last ?? {}
  log.warn(unsaid === 0 ? facts : { ...facts, unsaid }, words)
}

/** Why, without the stack: it is not our program that is at fault. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error)
