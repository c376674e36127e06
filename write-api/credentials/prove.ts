import type { FastifyRequest } from 'fastify'
import { hasSecondFactor } from '#domain/credentials/state.ts'
import { principalOf } from '#infra/http/access.ts'
import { findUser } from '#projections/users/query.ts'
import type { ProofOnly } from '#write-api/contract/credentials.ts'
import { contextOf, type Deps } from '../act.ts'
import { refused } from '../refusals.ts'
import { isPassword } from '../users/password-secret.ts'
import { proofPurpose } from './begin-proof.ts'
import { tryProof } from './code-guard.ts'
import { credentialsOf } from './credentials-of.ts'
import { takeCode } from './take-code.ts'
import { takePasskey } from './take-passkey.ts'

/**
 * Throws unless the request's user shows once more who it is, by the password, a code or an
 * unlocked passkey: a session left open must not be enough to change what others come in by.
 */
export async function prove(
  deps: Deps,
  request: FastifyRequest,
  { password = '', code = '', passkey }: ProofOnly,
): Promise<void> {
  const { userId } = principalOf(request)
  if (password === '' && code === '' && passkey === undefined) throw refused('ProofNeeded')
  const context = contextOf(deps, request)
  if (passkey !== undefined) {
    // Nobody guesses a signature: wrong codes of others must not keep a passkey waiting.
    const shown = { userId, passkey, purpose: proofPurpose(userId), isAlone: true }
    return takePasskey(deps, request, shown, context)
  }
  const succeeded = await tryProof(deps, request)
  if (code !== '') await takeCode(deps, userId, code, context)
  else {
    const user = await findUser(deps.core.db, userId)
    const isRight = user !== null && (await isPassword(deps.core.vault, user, password))
    if (!isRight) throw refused('ProofWrong')
  }
  succeeded()
}

/**
 * As above, for whoever has a password or a second factor to show; who has neither must have logged
 * in just now. So that what makes a first way to prove oneself is nobody else's to make.
 */
export async function proveAnew(
  deps: Deps,
  request: FastifyRequest,
  proof: ProofOnly,
): Promise<void> {
  if (await hasProof(deps, principalOf(request).userId)) await prove(deps, request, proof)
  else if (!isRecent(deps, request)) throw refused('LoginNotRecent')
}

/**
 * Throws unless the request's user has logged in, or proved anew who that is, within half an hour:
 * for calls that carry no proof themselves and make another way to come in.
 */
export async function requireRecent(deps: Deps, request: FastifyRequest): Promise<void> {
  if (isRecent(deps, request)) return
  const canProve = await hasProof(deps, principalOf(request).userId)
  throw refused(canProve ? 'ProofNotRecent' : 'LoginNotRecent')
}

const RECENT_MS = 30 * 60_000

const isRecent = ({ core }: Deps, request: FastifyRequest): boolean =>
  core.now() - principalOf(request).provedAt <= RECENT_MS

async function hasProof(deps: Deps, userId: number): Promise<boolean> {
  if (hasSecondFactor(await credentialsOf(deps, userId))) return true
  const user = await findUser(deps.core.db, userId)
  return user !== null && user.passwordRef !== null
}
