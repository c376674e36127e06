import type { ActContext } from '#infra/event-store/actors-port.ts'
import type { Deps } from '../act.ts'
import { refused } from '../refusals.ts'
import { changeCredentials, credentialsOf } from './credentials-of.ts'
import { recoveryCodeHash } from './recovery-codes.ts'
import { isTotpCode, totpOwner, totpStep } from './totp.ts'

/**
 * Uses up a code of the authenticator app (six digits) or a recovery code. Throws `CodeWrong` or
 * `CodeUsed`: however many come with one code at once, one of them passes.
 */
export async function takeCode(
  deps: Deps,
  userId: number,
  text: string,
  context: ActContext,
): Promise<void> {
  const code = text.replace(/\s/g, '')
  const { vault, now } = deps.core
  if (!isTotpCode(code)) {
    const codeHash = recoveryCodeHash(vault, userId, code)
    await changeCredentials(deps, { type: 'UseRecoveryCode', userId, codeHash }, context)
    return
  }
  const { totp } = await credentialsOf(deps, userId)
  if (totp === null) throw refused('CodeWrong')
  const ref = totp.secretRef
  const secrets = await vault.getSecrets('totp', [{ owner: totpOwner(userId), ref }])
  const secret = secrets.get(ref)
  const step = secret === undefined ? null : totpStep(secret, code, now())
  if (step === null) throw refused('CodeWrong')
  await changeCredentials(deps, { type: 'UseTotpStep', userId, step }, context)
}
