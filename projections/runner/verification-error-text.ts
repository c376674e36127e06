import { DatabaseError } from 'pg'
import { PoisonEvent } from './fold-events.ts'

/**
 * Describes an error for the result of a verification, which is an event and so is kept for good.
 * Messages of errors are left out, because Postgres quotes values of rows in them, and V8 quotes
 * texts. The log has the whole error.
 */
export function verificationErrorText(error: unknown): string {
  if (error instanceof PoisonEvent) {
    return `${error.type} at position ${error.position}: ${verificationErrorText(error.cause)}`
  }
  if (error instanceof DatabaseError) return `Postgres reports SQLSTATE ${error.code ?? 'unknown'}`
  return `the process reports ${error instanceof Error ? error.name : 'an unknown error'}`
}
