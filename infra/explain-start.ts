import { ConfigError } from './config/config-error.ts'

/** One line for what an operator can mend; the whole error for what only we can. */
export function explainStart(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('isExplained' in error) return error.message
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `Tallygate can't start. PORT: another program listens there (${error.message})`
  }
  const isOperators = error instanceof ConfigError || 'isOperatorError' in error
  return isOperators ? `Tallygate can't start. ${error.message}` : (error.stack ?? error.message)
}
