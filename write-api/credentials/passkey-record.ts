import type { CredentialsState, Passkey } from '#domain/credentials/state.ts'
import type { Vault } from '#infra/vault/port.ts'

/** What a passkey's signatures are checked by; sealed in the event that added it. */
export type PasskeyRecord = {
  /** The authenticator's own id for it, base64url, as the public key (COSE). */
  readonly id: string
  readonly publicKey: string
  readonly transports: readonly string[]
  /** The name of the site that it is bound to. */
  readonly site: string
  /** Whether it was unlocked as it was made: then it is a way in by itself. */
  readonly isUnlockable: boolean
}

export async function openPasskey(
  vault: Vault,
  userId: number,
  passkey: Passkey,
): Promise<PasskeyRecord | null> {
  const text = await vault.open(userId, passkey.credential)
  return text === null ? null : (JSON.parse(text) as PasskeyRecord)
}

/** Those of the user that are good at this site. */
export async function passkeysAt(
  vault: Vault,
  userId: number,
  { passkeys }: CredentialsState,
  site: string,
): Promise<{ id: string; transports: string[] }[]> {
  const records = await recordsAt(vault, userId, passkeys, site)
  return [...records.values()].map(({ id, transports }) => ({ id, transports: [...transports] }))
}

/** By the passkeys' ids. */
export async function recordsAt(
  vault: Vault,
  userId: number,
  passkeys: CredentialsState['passkeys'],
  site: string,
): Promise<ReadonlyMap<number, PasskeyRecord>> {
  const records = new Map<number, PasskeyRecord>()
  for (const [id, passkey] of passkeys) {
    const record = await openPasskey(vault, userId, passkey)
    if (record?.site === site) records.set(id, record)
  }
  return records
}
