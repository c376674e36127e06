import type { TFunction } from 'i18next'

/**
 * Returns the name and the id of a user, because an earlier user may have had the same name. The
 * server returns no name for an erased user.
 */
export const userText = (t: TFunction, id: number, name: string): string =>
  name === '' ? t('audit.erasedUser', { id }) : `${name} (#${id})`

/** Returns the name of a user, or of the part of the site that performed an automatic action. */
export const actorText = (
  t: TFunction,
  { kind, id, name }: { readonly kind: string; readonly id: string; readonly name: string },
): string => (kind === 'system' ? `${t('audit.site')} (${id})` : name || `${kind}:${id}`)
