import type { FastifyRequest } from 'fastify'
import type { Passkey } from '#domain/credentials/state.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import type { PasskeyAssertion } from '#write-api/contract/credentials.ts'
import type { Deps } from '../action.ts'
import { credentialsError } from './credentials-errors.ts'
import {
  consumeChallenge,
  openPasskey,
  type PasskeyRecord,
  type PasskeySite,
  passkeySite,
  webauthn,
} from './passkeys.ts'
import { credentialsOf, recordFactorUse } from './read-and-change-credentials.ts'

type PasskeyCheck = {
  readonly userId: number
  readonly passkey: PasskeyAssertion
  readonly purpose: string
  /**
   * True if no other factor proves the user's identity. In this case, the authenticator must have
   * verified the user by a PIN or biometrics.
   */
  readonly isSoleFactor: boolean
}

/**
 * Verifies that one of the user's passkeys has signed a challenge for this purpose, and records the
 * use of the passkey. Throws `PasskeyFailed` if the signature is not valid.
 */
export async function verifyPasskeySignature(
  deps: Deps,
  request: FastifyRequest,
  check: PasskeyCheck,
  context: CommandContext,
): Promise<void> {
  const { userId } = check
  const { vault } = deps.core
  const site = await passkeySite(deps, request)
  const hash = vault.keyedHash('passkey', check.passkey.id)
  const { passkeys } = await credentialsOf(deps, userId)
  const entry = [...passkeys].find(([, { credentialHash }]) => credentialHash === hash)
  const record = entry === undefined ? null : await openPasskey(vault, userId, entry[1] as Passkey)
  if (entry === undefined || record?.site !== site.id) throw credentialsError('PasskeyFailed')
  const counter = await verifiedCounter(deps, site, check, record)
  await recordFactorUse(deps, { type: 'UsePasskey', userId, passkeyId: entry[0], counter }, context)
}

/** Verifies the signature of the passkey. Returns the authenticator's signature counter. */
async function verifiedCounter(
  deps: Deps,
  site: PasskeySite,
  { passkey, purpose, isSoleFactor }: PasskeyCheck,
  { id, publicKey }: PasskeyRecord,
): Promise<number> {
  try {
    const { verifyAuthenticationResponse } = await webauthn()
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...passkey, clientExtensionResults: {} } as never,
      expectedChallenge: consumeChallenge(deps, purpose),
      expectedOrigin: site.origin,
      expectedRPID: site.id,
      // The domain checks the signature counter. With the counter 0, the library accepts every new
      // value.
      credential: {
        id,
        publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
        counter: 0,
      },
      requireUserVerification: isSoleFactor,
    })
    if (!verified) throw new Error('not verified')
    return authenticationInfo.newCounter
  } catch (error) {
    deps.core.log.debug({ err: error }, 'verifying a passkey failed')
    throw credentialsError('PasskeyFailed')
  }
}
