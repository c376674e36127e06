import { destination, type Logger, pino } from 'pino'

/** The values at these paths never reach a log. */
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

/** Bounds the buffer of lines that could not be written yet. */
const BUFFERED_BYTES_MAX = 65_536

/**
 * Writes JSON lines to standard error; standard output is for messages to people. When the reader
 * is gone, as after a terminal was closed, lines are dropped, so that running work is not
 * interrupted.
 */
export function createLog(level: string): Logger {
  const output = destination({ dest: 2, sync: true, maxLength: BUFFERED_BYTES_MAX })
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

/** Logs name, message and stack, and never the request that a driver may attach to its errors. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack } = error
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) }
  return { name, message, ...code, stack, ...cause }
}

const EVERY_MS = 10_000

type Repetition = { at: number; suppressed: number }

const repetitions = new WeakMap<Logger, Map<string, Repetition>>()

/**
 * Logs a warning that would otherwise repeat while a dependency is down: at once, then at most once
 * every ten seconds with the number of repetitions in between (`suppressed`; those are logged at
 * level debug), so that other lines stay visible.
 */
export function warnThrottled(
  log: Logger,
  fields: Readonly<Record<string, unknown>>,
  message: string,
) {
  const byMessage = repetitions.get(log) ?? new Map<string, Repetition>()
  repetitions.set(log, byMessage)
  const last = byMessage.get(message)
  const now = performance.now()
  if (last !== undefined && now - last.at < EVERY_MS) {
    last.suppressed += 1
    log.debug(fields, message)
    return
  }
  byMessage.set(message, { at: now, suppressed: 0 })
  const { suppressed = 0 } = last ?? {}
  log.warn(suppressed === 0 ? fields : { ...fields, suppressed }, message)
}

/** Returns the message of an error without its stack, for failures outside of this program. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error)
