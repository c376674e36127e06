import { DatabaseError } from 'pg'
import { ConfigError } from './config/config-error.ts'

/** One line for what an operator can mend; the whole error for what only we can. */
export function explainStart(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('isExplained' in error) return error.message
  const unheard = listenFault(error)
  if (unheard !== null) return `Tallygate can't start. ${unheard} (${error.message})`
  if (isDatabaseAway(error)) {
    return `Tallygate can't start. DATABASE_URL: the database can't be used (${reasonOf(error)})`
  }
  const isOperators = error instanceof ConfigError || 'isOperatorError' in error
  return isOperators ? `Tallygate can't start. ${error.message}` : (error.stack ?? error.message)
}

/** What keeps a server from listening: its port, or else its host. */
function listenFault(error: Error): string | null {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return 'PORT: another program listens there'
  if ('isOfListening' in error || syscall === 'listen' || syscall === 'bind') {
    return code === 'EACCES'
      ? 'PORT: this user may not listen there'
      : 'HOST: it is no address of this machine'
  }
  return null
}

/** Not let in, no such database, too many clients, starting or stopping. */
const REFUSALS = /^(28|3D000|53300|57P0)/
const UNREACHED = /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/

/** NOTE: other engines name their own variable: a bare fault of a socket is Postgres'. */
function isDatabaseAway(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : ''
  if (error instanceof DatabaseError) return REFUSALS.test(code)
  return (
    UNREACHED.test(code) ||
    /^(Connection terminated|The server does not support SSL|timeout expired)/.test(error.message)
  )
}

/** A name with several addresses fails with all of their faults and no message of its own. */
const reasonOf = (error: Error): string =>
  error instanceof AggregateError
    ? error.errors.map(({ message }: Error) => message).join('; ')
    : error.message
