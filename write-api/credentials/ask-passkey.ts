import type { FastifyRequest } from 'fastify'
import type { Deps } from '../act.ts'
import { refused } from '../refusals.ts'
import { newChallenge } from './challenges.ts'
import { credentialsOf } from './credentials-of.ts'
import { passkeysAt } from './passkey-record.ts'
import { passkeySite } from './passkey-site.ts'
import { webauthn } from './webauthn.ts'

type Asked = {
  readonly userId: number
  /** What the challenge is good for. */
  readonly purpose: string
  readonly userVerification: 'required' | 'preferred'
}

/** What a browser asks for one of the user’s passkeys by; throws where this site has none. */
export async function askPasskey(
  deps: Deps,
  request: FastifyRequest,
  { userId, purpose, userVerification }: Asked,
) {
  const site = await passkeySite(deps, request)
  const known = await credentialsOf(deps, userId)
  const allowCredentials = await passkeysAt(deps.core.vault, userId, known, site.id)
  if (allowCredentials.length === 0) throw refused('PasskeyFailed')
  const { generateAuthenticationOptions } = await webauthn()
  const challenge = await newChallenge(deps, request, purpose)
  return generateAuthenticationOptions({
    rpID: site.id,
    challenge,
    allowCredentials,
    userVerification,
  })
}
