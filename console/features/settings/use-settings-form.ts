import { useQueryClient } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { optionHistoryKey, optionsQuery } from '#console/api/options.ts'
import { statusQuery } from '#console/api/status.ts'
import { isSharedErrorKey } from '#console/ui/forms/server-field-errors.ts'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { showError, showSuccess, showWarning } from '#console/ui/messages/toast.ts'
import type { OptionSchema } from '#read-api/contract/options.ts'
import { changedOptions, type OptionChange } from './compare-and-merge-option-changes.ts'
import { fallbackErrorKey } from './fallback-price-draft.ts'
import { type MergedText, saveOptionChanges } from './save-option-changes.ts'
import { type SettingError, validateRange, validateSetting } from './setting-validation.ts'
import { type OptionTexts, useOptionTexts } from './use-option-texts.ts'
import { type Options, useOptions } from './use-options.ts'

const OUT_OF_BOUNDS: readonly SettingError['code'][] = ['tooSmall', 'tooLarge', 'notNumber']

/** A maximum that error messages do not mention, because no realistic value reaches it. */
const UNREALISTIC_MAX = String(Number.MAX_SAFE_INTEGER)

/**
 * Returns a function that translates a validation error. An option can define its own text for
 * values that are out of bounds.
 */
function useErrorText(): (option: OptionSchema, settingError: SettingError) => string {
  const { t } = useTranslation()
  const texts = useOptionTexts()
  return (option, settingError) => {
    const bounds = texts.bounds(option.key)
    if (bounds !== '' && OUT_OF_BOUNDS.includes(settingError.code)) return bounds
    const text = settingErrorText(t, texts, settingError)
    const { minimum: min, maximum: max } = option.type
    const isBounded = settingError.code === 'notInteger' || settingError.code === 'notNumber'
    if (!isBounded || min === undefined || max === undefined) return text
    return max === UNREALISTIC_MAX
      ? t('settings.withMinimum', { text, min })
      : t('settings.withBounds', { text, min, max })
  }
}

function settingErrorText(t: TFunction, { label }: OptionTexts, error: SettingError): string {
  if ('other' in error) return t(`settings.${error.code}`, { other: label(error.other) })
  if ('min' in error) return t(`settings.${error.code}`, error)
  if ('max' in error) return t(`settings.${error.code}`, error)
  if ('name' in error) return t(`settings.${error.code}`, error)
  if ('placeholder' in error) return t(`settings.${error.code}`, error)
  const { code } = error
  return t(isSharedErrorKey(code) ? `shared.error.${code}` : `settings.${code}`)
}

export type SettingsForm = Omit<Options, 'baseline' | 'schema'> & {
  /** Reports whether the server has this option. */
  has: (key: string) => boolean
  option: (key: string) => OptionSchema | undefined
  optionsOf: (section: string) => readonly OptionSchema[]
  value: (key: string) => string
  isChanged: (key: string) => boolean
  set: (values: ReadonlyMap<string, string>) => void
  reset: (key: string) => void
  /**
   * Marks a field as visited. The form shows the validation error of a field only if the field is
   * marked, or if the user has tried to save invalid values.
   */
  touch: (key: string) => void
  errorText: (key: string) => string | undefined
  changes: readonly OptionChange[]
  /**
   * Stops refreshing the loaded values while `isOpen` is true, for example while a drawer is open.
   */
  pauseRefresh: (isOpen: boolean) => void
  discard: () => void
  save: () => Promise<void>
  isSaving: boolean
}

type FormEvents = {
  readonly onInvalid: (key: string) => void
  readonly onSaved: (() => void) | null
}

type Texts = ReadonlyMap<string, string>
const NO_TEXTS: Texts = new Map()
const NO_KEYS: ReadonlySet<string> = new Set()

/**
 * Keeps the edited texts of all options and saves them. `onInvalid` receives the key of the first
 * option in which the form or the server has found an error.
 */
export function useSettingsForm(events: FormEvents): SettingsForm {
  const { t } = useTranslation()
  const client = useQueryClient()
  const drafts = useDrafts()
  const { options, baseline, changes, value, setHeld } = useChanges(drafts)
  const { schema } = options
  const errorText = useErrorText()
  const showOutcome = useSaveOutcome(events)
  const changed = new Set(changes.map(({ key }) => key))
  const errorOf = (key: string) => {
    const option = schema.get(key)
    if (option === undefined || !changed.has(key)) return null
    return validateSetting(option.type, value(key)) ?? validateRange(schema, key, value)
  }

  const { isBusy, submit } = useSubmit(async () => {
    if (changes.length === 0) return showError(t('shared.unchanged'))
    const invalidKey = changes.find(({ key }) => errorOf(key) !== null)?.key
    const first = invalidKey ?? fallbackErrorKey(changed, value)
    if (first !== undefined) {
      drafts.check()
      events.onInvalid(first)
      return showError(t('settings.checkInput'))
    }
    const readOptions = () => client.fetchQuery({ ...optionsQuery, staleTime: 0 })
    const outcome = await saveOptionChanges(changes, readOptions)
    const { saved, errors, notes } = outcome
    await options.reload()
    drafts.applyMerged(outcome.merged)
    drafts.settle(saved, new Map([...notes, ...errors]))
    for (const queryKey of [statusQuery.queryKey, optionHistoryKey]) {
      void client.invalidateQueries({ queryKey })
    }
    showOutcome(outcome)
  })

  return {
    ...options,
    has: (key) => baseline.has(key),
    option: (key) => schema.get(key),
    optionsOf: (section) => shownOptions(schema, section),
    value,
    isChanged: (key) => changed.has(key),
    set: (values) => drafts.set(values, baseline, changed),
    reset: (key) => drafts.settle(new Set([key]), NO_TEXTS),
    touch: drafts.touch,
    errorText: (key) => {
      const [option, settingError] = [schema.get(key), errorOf(key)]
      if (settingError === null || option === undefined) return drafts.serverErrors.get(key)
      return drafts.showsErrorOf(key) ? errorText(option, settingError) : undefined
    },
    changes,
    pauseRefresh: (isOpen) => setHeld(isOpen ? options.baseline : null),
    discard: drafts.clear,
    save: submit,
    isSaving: isBusy,
  }
}

type Outcome = Awaited<ReturnType<typeof saveOptionChanges>>

function useSaveOutcome({ onInvalid, onSaved }: FormEvents) {
  const { t } = useTranslation()
  const { label } = useOptionTexts()
  return ({ saved, errors, notes }: Outcome): void => {
    for (const [key, note] of notes) showWarning(`${label(key)} · ${note}`)
    const [invalid] = errors.keys()
    if (invalid === undefined) {
      showSuccess(t('shared.saved'), { staysOnNavigation: true })
      onSaved?.()
      return
    }
    showError(t(saved.size > 0 ? 'settings.partlyFailed' : 'settings.failed'))
    onInvalid(invalid)
  }
}

/**
 * Returns the options of a section that have an effect. The schema of an option without an effect
 * contains a note with the reason.
 */
const shownOptions = (schema: Options['schema'], id: string): OptionSchema[] =>
  [...schema.values()].filter(({ section, note }) => section === id && note === null)

/**
 * Returns the stored options and the drafts that differ from them. While there are changes, or
 * after a call of `setHeld` with a value that is not null, polling pauses, so that the stored
 * options do not change during editing.
 */
function useChanges({
  baseValues,
  texts,
}: Pick<ReturnType<typeof useDrafts>, 'baseValues' | 'texts'>) {
  const [held, setHeld] = useState<Texts | null>(null)
  const options = useOptions(
    (live) => held !== null || changesOf(live, baseValues, texts).length > 0,
  )
  const baseline = held ?? options.baseline
  const changes = useMemo(
    () => changesOf(baseline, baseValues, texts),
    [baseline, baseValues, texts],
  )
  const value = (key: string) => {
    const [theirs, draft] = [baseline.get(key) ?? '', texts.get(key)]
    // Drops the draft if another user has stored the same value.
    const isStoredElsewhere =
      baseValues.get(key) !== theirs && !changes.some((change) => change.key === key)
    return draft === undefined || isStoredElsewhere ? theirs : draft
  }
  return { options, baseline, changes, value, setHeld }
}

const changesOf = (baseline: Texts, baseValues: Texts, texts: Texts): OptionChange[] =>
  changedOptions(new Map([...baseline, ...baseValues]), texts)

function useDrafts() {
  const [texts, setTexts] = useState(NO_TEXTS)
  // The values that the edited options had at the start of the edit.
  const [baseValues, setBaseValues] = useState(NO_TEXTS)
  const [touched, setTouched] = useState(NO_KEYS)
  const [serverErrors, setServerErrors] = useState(NO_TEXTS)
  const [isChecked, setChecked] = useState(false)
  return {
    texts,
    baseValues,
    serverErrors,
    showsErrorOf: (key: string) => isChecked || touched.has(key),
    set: (values: Texts, baseline: Texts, changed: ReadonlySet<string>) => {
      const seen = [...values.keys()].map((key) => [key, baseline.get(key) ?? ''] as const)
      const fresh = seen.filter(([key]) => !changed.has(key))
      setBaseValues((current) => new Map([...seen, ...current, ...fresh]))
      setTexts((current) => new Map([...current, ...values]))
      setServerErrors((current) => without(current, new Set(values.keys())))
    },
    applyMerged: (drafts: ReadonlyMap<string, MergedText>) => {
      const part = (name: keyof MergedText) =>
        [...drafts].map(([key, d]) => [key, d[name]] as const)
      setBaseValues((current) => new Map([...current, ...part('theirs')]))
      setTexts((current) => new Map([...current, ...part('text')]))
    },
    touch: (key: string) => setTouched((current) => new Set([...current, key])),
    check: () => setChecked(true),
    settle: (saved: ReadonlySet<string>, errors: ReadonlyMap<string, string>) => {
      setTexts((current) => without(current, saved))
      setBaseValues((current) => without(current, saved))
      setTouched((current) => new Set([...current].filter((key) => !saved.has(key))))
      setServerErrors(errors)
      setChecked(false)
    },
    clear: () => {
      setTexts(NO_TEXTS)
      setBaseValues(NO_TEXTS)
      setTouched(NO_KEYS)
      setServerErrors(NO_TEXTS)
      setChecked(false)
    },
  }
}

function without(
  texts: ReadonlyMap<string, string>,
  keys: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  return new Map([...texts].filter(([key]) => !keys.has(key)))
}

/**
 * Stops refreshing the options while `isOpen` is true, so that values do not change during editing.
 * Saving still detects changes that other users have made in the meantime.
 */
export function usePausedRefresh(form: SettingsForm, isOpen: boolean): void {
  const hold = useEffectEvent(form.pauseRefresh)
  useEffect(() => {
    if (!isOpen) return
    hold(true)
    return () => hold(false)
  }, [isOpen])
}
