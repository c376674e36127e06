import type { FastifyRequest } from 'fastify'
import { hasSecondFactor } from '#domain/credentials/state.ts'
import { principalOf } from '#infra/http/access.ts'
import { findUser } from '#projections/users/query.ts'
import type { ProofOnly } from '#write-api/contract/credentials.ts'
import { contextOf, type Parts } from '../act.ts'
import { refused } from '../refusals.ts'
import { isPassword } from '../users/password-secret.ts'
import { proofPurpose } from './begin-proof.ts'
import { tryCode } from './code-guard.ts'
import { credentialsOf } from './credentials-of.ts'
import { takeCode } from './take-code.ts'
import { takePasskey } from './take-passkey.ts'

/**
 * Throws unless the request's user shows once more who it is, by the password, a code or an
 * unlocked passkey: a session left open must not be enough to change what others come in by.
 */
export async function prove(
  parts: Parts,
  request: FastifyRequest,
  { password = '', code = '', passkey }: ProofOnly,
): Promise<void> {
  const { userId } = principalOf(request)
  if (password === '' && code === '' && passkey === undefined) throw refused('ProofNeeded')
  const succeeded = await tryCode(parts, userId)
  const context = contextOf(parts, request)
  if (passkey !== undefined) {
    const shown = { userId, passkey, purpose: proofPurpose(userId), isAlone: true }
    await takePasskey(parts, request, shown, context)
  } else if (code !== '') await takeCode(parts, userId, code, context)
  else {
    const user = await findUser(parts.core.db, userId)
    const isRight = user !== null && (await isPassword(parts.core.vault, user, password))
    if (!isRight) throw refused('ProofWrong')
  }
  succeeded()
}

/** As above, where the user has a second factor; the first one is set up without. */
export async function proveIfSecured(
  parts: Parts,
  request: FastifyRequest,
  proof: ProofOnly,
): Promise<void> {
  const credentials = await credentialsOf(parts, principalOf(request).userId)
  if (hasSecondFactor(credentials)) await prove(parts, request, proof)
}
