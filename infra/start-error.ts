import { DatabaseError } from 'pg'
import { ConfigError } from './config/config-types.ts'

/** Returns one line for an error that an operator can fix, or the stack for a bug. */
export function describeStartError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('isExplained' in error) return error.message
  const listenError = listenErrorOf(error)
  if (listenError !== null) return `Tallygate can't start. ${listenError} (${error.message})`
  if (isDatabaseUnreachable(error)) {
    return `Tallygate can't start. DATABASE_URL: the database can't be used (${reasonOf(error)})`
  }
  const isOperatorError =
    error instanceof ConfigError || 'isOperatorError' in error || isFileError(error)
  return isOperatorError
    ? `Tallygate can't start. ${error.message}`
    : (error.stack ?? error.message)
}

function listenErrorOf(error: Error): string | null {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return 'PORT: another program is listening on it'
  if ('isListenError' in error || syscall === 'listen' || syscall === 'bind') {
    return code === 'EACCES'
      ? 'PORT: this user is not allowed to listen on it'
      : 'HOST: it is not an address of this machine'
  }
  return null
}

/**
 * Reports whether the system refused access to a file, for example because of a missing folder, a
 * missing permission or a full disk.
 */
function isFileError(error: Error): boolean {
  const { errno, path, syscall } = error as NodeJS.ErrnoException
  const isFull = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO'].includes(codeOf(error))
  return errno !== undefined && (path !== undefined || (isFull && syscall !== undefined))
}

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '')

/**
 * SQLSTATEs of a rejected connection: authentication failed, unknown database, too many clients,
 * server starting or stopping.
 */
const CONNECTION_SQLSTATES = /^(28|3D000|53300|57P0)/
const UNREACHABLE_CODES = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/

/**
 * Reports whether the database can't be reached. NOTE: a plain socket error can only come from
 * Postgres. An unreachable Redis or Kafka does not prevent the start, and an unreachable
 * EventStoreDB is a `ConfigError`.
 */
function isDatabaseUnreachable(error: Error): boolean {
  const code = codeOf(error)
  if (error instanceof DatabaseError) return CONNECTION_SQLSTATES.test(code)
  return (
    UNREACHABLE_CODES.test(code) ||
    /^(Connection terminated|The server does not support SSL|timeout expired)/.test(error.message)
  )
}

/**
 * Returns the reason of a failed connection. If a host name has several addresses, Node throws an
 * AggregateError with an empty message. In this case, the reason is the joined messages of the
 * single errors.
 */
const reasonOf = (error: Error): string =>
  error instanceof AggregateError
    ? error.errors.map(({ message }: Error) => message).join('; ')
    : error.message
