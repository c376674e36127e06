import { OPTIONS, optionValue } from '#domain/options/option-registry.ts'
import { isJsonType } from '#domain/options/option-type.ts'
import { readableJson } from '#domain/shared/lossless-json.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { allOptions } from '#projections/options/query.ts'

/** The values of all options of the site at one time. See `currentOptions`. */
export type CurrentOptions = {
  readonly text: (key: string) => string
  readonly flag: (key: string) => boolean
  readonly number: (key: string) => number
  /**
   * Returns the members of an option that is a JSON object. For any other value, returns an empty
   * map.
   */
  readonly members: (key: string) => Map<string, unknown>
  /**
   * Returns all options. A secret option has the value `***` if it is set, and an empty value
   * otherwise.
   */
  readonly list: () => { key: string; value: string }[]
  readonly hasSecret: (key: string) => boolean
  readonly isInitialised: boolean
  readonly isSelfUse: boolean
  readonly isDemoSite: boolean
}

/**
 * Reads the current values of the options. An option that no admin has set has its default value.
 */
export async function currentOptions({ db }: Pick<Core, 'db'>): Promise<CurrentOptions> {
  const { values, secretRefs, site } = await allOptions(db)
  const text = (key: string): string => (OPTIONS.has(key) ? optionValue(values, key) : '')
  return {
    text,
    flag: (key) => text(key) === 'true',
    number: (key) => Number(text(key)) || 0,
    members: (key) => membersOf(text(key)),
    list: () =>
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
