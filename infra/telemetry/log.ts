import { destination, type Logger, pino } from 'pino'

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

const BUFFERED_BYTES_MAX = 65_536

/**
 * Creates a logger that writes JSON lines to standard error. If standard error is closed, the lines
 * are dropped and the process continues.
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

/**
 * Returns the fields of an error that are logged. Other fields, such as a request that a driver
 * attached, are left out.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack } = error
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) }
  return { name, message, ...code, stack, ...cause }
}

const REPEAT_AFTER_MS = 10_000

/**
 * The methods of a logger that `warnThrottled` uses, so that this function also accepts the loggers
 * of Fastify.
 */
type WarningLog = Pick<Logger, 'debug' | 'warn'>

type Repetition = { at: number; suppressed: number }

const repetitions = new WeakMap<WarningLog, Map<string, Repetition>>()

/**
 * Logs a warning that may repeat while a dependency is down. Warnings with the same message are
 * logged at most every ten seconds, with the number of omitted warnings (`suppressed`). Omitted
 * warnings are logged at level debug.
 */
export function warnThrottled(
  log: WarningLog,
  fields: Readonly<Record<string, unknown>>,
  message: string,
) {
  const byMessage = repetitions.get(log) ?? new Map<string, Repetition>()
  repetitions.set(log, byMessage)
  const last = byMessage.get(message)
  const now = performance.now()
  if (last !== undefined && now - last.at < REPEAT_AFTER_MS) {
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
