import type { Fact } from '../shared/event.ts'

export const OPTIONS_STREAM = 'options'

/** `value` is the option's text as the registry's check normalised it. */
export type OptionSet = Fact<'OptionSet', { readonly key: string; readonly value: string }>

/** A secret option: the text is in the vault. */
export type SecretOptionSet = Fact<
  'SecretOptionSet',
  { readonly key: string; readonly secretRef: string }
>

export type OptionsEvent = OptionSet | SecretOptionSet
