import type { Core } from '#infra/core.ts'

/** The text of a secret option; empty when it was never set. */
export async function readSecretOption(
  { vault }: Pick<Core, 'vault'>,
  secretRefs: ReadonlyMap<string, string>,
  key: string,
): Promise<string> {
  const ref = secretRefs.get(key) ?? ''
  return ref === '' ? '' : vault.getSecret('option', `option:${key}`, ref)
}
