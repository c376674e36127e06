import { DatabaseError } from 'pg'
import { PoisonEvent } from './fold-events.ts'

/**
 * Describes an error for the result of a verification. The result is an event, so it is stored
 * permanently. The error's message is left out, because it may contain personal data: Postgres
 * quotes values of rows, and V8 quotes texts. The log contains the whole error.
 */
export function verificationErrorText(error: unknown): string {
  if (error instanceof PoisonEvent) {
    return `${error.type} at position ${error.position}: ${verificationErrorText(error.cause)}`
  }
  if (error instanceof DatabaseError) return `Postgres reports SQLSTATE ${error.code ?? 'unknown'}`
  return `the process reports ${error instanceof Error ? error.name : 'an unknown error'}`
}
