import { providerErrorBody } from '../dialects/openai-chat/error-format.ts'
import { confidentialOf } from './failed-call-answer.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import type { RelayDeps } from './relay-deps.ts'

const LENGTH_MAX = 500

type FailedCall = {
  readonly call: string
  readonly userId: number
  readonly candidate: Candidate
  readonly status: number | null
  /** The provider's answer, or the event with which the provider ended the stream. */
  readonly body: Buffer
  /** True if the answer to the call showed this message to the caller. */
  readonly isShown: boolean
}

/**
 * Stores the provider's error message for a failed call, without keys, accounts and addresses.
 * Admins can read every message. Callers can read a message only if they received it with the call.
 * The call does not wait for the write, and a failed write is only logged.
 */
export function storeProviderErrorMessage(
  { providerMessages, vault, log, now }: RelayDeps,
  { call, userId, candidate, status, body, isShown }: FailedCall,
): void {
  if (body.length === 0) return
  const confidential = confidentialOf(candidate)
  const { message } = providerErrorBody(body, status ?? 502, {
    isHidden: false,
    confidential,
  }).error
  const text = message.slice(0, LENGTH_MAX).toWellFormed()
  vault
    .seal(userId, text)
    .then((sealed) => providerMessages.add({ call, userId, message: sealed, isShown, at: now() }))
    .catch((err: unknown) => {
      log.warn({ err, call }, "a provider's error message could not be stored")
    })
}
