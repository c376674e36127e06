import { isJsonType } from '#domain/options/option-type.ts'
import { OPTIONS, optionValue } from '#domain/options/registry.ts'
import { readableJson } from '#domain/shared/json-format.ts'
import type { Core } from '#infra/core.ts'
import { allOptions, siteState } from '#projections/options/query.ts'

export type OptionsInForce = {
  readonly text: (key: string) => string
  readonly flag: (key: string) => boolean
  readonly number: (key: string) => number
  /** A JSON object's members, by name; empty when the text is none. */
  readonly members: (key: string) => Map<string, unknown>
  /** Every option that may be shown: set, or by default; secret ones say only whether they are. */
  readonly shown: () => { key: string; value: string }[]
  /** Whether a secret option has a text. */
  readonly hasSecret: (key: string) => boolean
  readonly isInitialised: boolean
  readonly isSelfUse: boolean
  readonly isDemoSite: boolean
}

/** The options as they are now: what an admin set, else the default. */
export async function optionsInForce({ db }: Pick<Core, 'db'>): Promise<OptionsInForce> {
  const [{ values, secretRefs }, site] = await Promise.all([allOptions(db), siteState(db)])
  const text = (key: string): string => (OPTIONS.has(key) ? optionValue(values, key) : '')
  return {
    text,
    flag: (key) => text(key) === 'true',
    number: (key) => Number(text(key)) || 0,
    members: (key) => membersOf(text(key)),
    shown: () =>
      [...OPTIONS].map(([key, { isSecret, type }]) =>
        isSecret
          ? { key, value: secretRefs.get(key) ? '***' : '' }
          : { key, value: isJsonType(type) ? readableJson(text(key)) : text(key) },
      ),
    hasSecret: (key) => (secretRefs.get(key) ?? '') !== '',
    isInitialised: site.rootUserId !== null,
    isSelfUse: values.has('SelfUseModeEnabled')
      ? text('SelfUseModeEnabled') === 'true'
      : site.isSelfUse,
    isDemoSite: values.has('DemoSiteEnabled')
      ? text('DemoSiteEnabled') === 'true'
      : site.isDemoSite,
  }
}

function membersOf(text: string): Map<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text)
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    return new Map(isObject ? Object.entries(parsed) : [])
  } catch {
    return new Map()
  }
}
