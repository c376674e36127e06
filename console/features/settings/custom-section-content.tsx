import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { automaticCheckQuery } from '#console/api/options.ts'
import { isRoot, useUser } from '#console/api/session.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { Segmented, Switch } from '#console/ui/forms/choice-inputs.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { isSharedErrorKey } from '#console/ui/forms/server-field-errors.ts'
import { formProps, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { choiceParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import type { LatestRelease } from '#read-api/contract/status.ts'
import {
  FALLBACK_KEYS,
  type FallbackKey,
  fallbackDraft,
  fallbackErrorField,
  validateFallback,
  withFallback,
} from './fallback-price-draft.ts'
import { GroupEditor } from './group-editor.tsx'
import { readGroupMaps } from './group-rows.ts'
import { PriceSettings } from './price-settings.tsx'
import { JsonOptionField } from './setting-field.tsx'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * The form for the fallback price, which applies to models without a price. The admin enters either
 * a fixed price or two ratios.
 */
function FallbackForm({ form }: { form: SettingsForm }) {
  const { t } = useTranslation()
  if (!FALLBACK_KEYS.every((key) => form.has(key))) return null
  const draft = fallbackDraft(form.value)
  const set = (key: FallbackKey, value: string) =>
    form.set(new Map(Object.entries(withFallback(draft, key, value))))
  // Validates stored values as well, because an API client can save one of the two ratios without
  // the other.
  const errorKey = validateFallback(draft)
  const error =
    errorKey === null
      ? undefined
      : t(
          isSharedErrorKey(errorKey)
            ? `shared.error.${errorKey}`
            : `settings.fallbackError.${errorKey}`,
        )
  const invalidField = fallbackErrorField(draft)
  const field = (key: FallbackKey, label: string) => (
    <TextField
      label={label}
      error={key === invalidField ? error : undefined}
      className="tg-input-short"
      inputMode="decimal"
      value={draft[key]}
      onChange={(value) => set(key, value)}
    />
  )
  return (
    <>
      <Switch
        label={t('settings.fallbackEnabled')}
        hint={t('settings.fallbackEither')}
        isOn={draft.fallback_pricing_enabled === 'true'}
        onChange={(isOn) => set('fallback_pricing_enabled', String(isOn))}
      />
      <div className="tg-fallback">
        {field('fallback_single_price', t('pricing.perCallOrSecondLabel'))}
        <span className="tg-fallback-or">{t('ui.or')}</span>
        {field('fallback_input_ratio', t('settings.fallbackInput'))}
        {field('fallback_completion_ratio', t('shared.factor.completion'))}
      </div>
    </>
  )
}

function UpdateCheck() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [found, setFound] = useState<LatestRelease | null>(
    () => client.getQueryData(automaticCheckQuery.queryKey) ?? null,
  )
  const { isBusy, submit } = useSubmit(async () => {
    setFound(null)
    const release = await call('GET /api/option/latest_release', { query: { is_forced: true } })
    client.setQueryData(automaticCheckQuery.queryKey, release)
    setFound(release)
  })
  return (
    <div className="tg-update">
      <Button icon="refresh" isBusy={isBusy} onClick={() => void submit()}>
        {t('settings.update.check')}
      </Button>
      <output>{found !== null && found.latest !== '' && <ReleaseInfo release={found} />}</output>
    </div>
  )
}

function ReleaseInfo({ release }: { release: LatestRelease }) {
  const { t } = useTranslation()
  const { current, latest, notes, is_newer: isNewer } = release
  return (
    <>
      <StatusTag tone={isNewer ? 'info' : 'good'}>
        {isNewer
          ? t('settings.update.newer', { latest, current })
          : t('settings.update.upToDate', { latest, current })}
      </StatusTag>
      {isNewer && notes !== '' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must scroll it
        <pre className="tg-update-notes" tabIndex={0}>
          {notes}
        </pre>
      )}
    </>
  )
}

function TestMail() {
  const { t } = useTranslation()
  const user = useUser()
  const form = useDraftForm({
    initial: () => ({ to: '' }),
    save: async ({ to }) => {
      await call('POST /api/option/test_mail', { body: { to: to.trim() } })
      showSuccess(t('settings.testMail.sent'))
    },
  })
  if (!isRoot(user)) return null
  return (
    <form className="tg-test-mail" {...formProps(form)}>
      <TextField
        label={t('settings.testMail.to')}
        hint={t('settings.testMail.hint')}
        type="email"
        autoComplete="email"
        trailing={
          <Button type="submit" isBusy={form.isBusy} isDisabled={form.draft.to.trim() === ''}>
            {t('settings.testMail.send')}
          </Button>
        }
        {...form.field('to')}
      />
    </form>
  )
}

const VIEWS = ['table', 'json'] as const
const URL_PARAMS = { groups: choiceParam(VIEWS, 'table') }

/**
 * Shows the group editor or, if the user has selected the JSON view or the JSON of a group option
 * is malformed, the JSON fields.
 */
function GroupPanel({ form }: { form: SettingsForm }) {
  const { t } = useTranslation()
  const [{ groups: view }, setUrlParams] = useUrlState(URL_PARAMS)
  const maps = readGroupMaps((key) => form.value(key) || '{}')
  return (
    <>
      <div className="tg-price-views">
        <Segmented
          label={t('pricing.groupViews')}
          value={maps === null ? 'json' : view}
          choices={choicesOf(VIEWS, (value) => t(`pricing.view.${value}`))}
          onChange={(groups) => setUrlParams({ groups })}
        />
      </div>
      {view === 'table' && maps !== null ? (
        <GroupEditor form={form} maps={maps} />
      ) : (
        <JsonGrid section="groups" form={form} />
      )}
    </>
  )
}

type Form = (props: { form: SettingsForm }) => ReactElement | null

export const CUSTOM_FORMS: Readonly<Record<string, Form>> = {
  prices: PriceSettings,
  fallback: FallbackForm,
  groups: GroupPanel,
  ratios: ({ form }) => <JsonGrid section="ratios" form={form} />,
}

export const SECTION_EXTRAS: Readonly<Record<string, Form>> = {
  update: UpdateCheck,
  smtp: TestMail,
}

function JsonGrid({ section, form }: { section: string; form: SettingsForm }) {
  return (
    <div className="tg-json-grid">
      {form.optionsOf(section).map(({ key }) => (
        <JsonOptionField key={key} option={key} form={form} />
      ))}
    </div>
  )
}
