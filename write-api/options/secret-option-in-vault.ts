import type { Core } from '#infra/core-dependencies.ts'

/** Returns the text of a secret option, or an empty text if the option is not set. */
export async function readSecretOption(
  { vault }: Pick<Core, 'vault'>,
  secretRefs: ReadonlyMap<string, string>,
  key: string,
): Promise<string> {
  const ref = secretRefs.get(key) ?? ''
  return ref === '' ? '' : vault.getSecret('option', `option:${key}`, ref)
}
