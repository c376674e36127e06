import { useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { optionHistoryQuery } from '#console/api/options.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import type { OptionChange, OptionSchema, OptionSection } from '#read-api/contract/options.ts'
import { changedLines } from './compare-and-merge-option-changes.ts'
import { formRowStarts } from './form-row-starts.ts'
import { readableJson } from './json-map.ts'
import { isRootOnly, SettingField } from './setting-field.tsx'
import { useOptionTexts } from './use-option-texts.ts'
import type { SettingsForm } from './use-settings-form.ts'

export function SettingSection(props: {
  section: OptionSection
  form: SettingsForm
  children?: ReactNode
  extra?: ReactNode
}) {
  const { t } = useTranslation()
  const texts = useOptionTexts()
  const { form, section } = props
  const options = form.optionsOf(section.id).filter(({ key }) => form.has(key))
  if (options.length === 0) return null
  return (
    <div id={`section-${section.id}`} className="tg-setting-section">
      <Panel
        title={texts.sectionTitle(section.id)}
        lead={texts.sectionLead(section.id) || undefined}
        actions={<SectionHistory section={section} />}
      >
        {isRootOnly(form, section.id) && (
          <p className="tg-setting-said">
            <Icon name="info" size={14} />
            {t('settings.rootOnly')}
          </p>
        )}
        {props.children ?? <Fields options={options} form={form} />}
        {props.extra}
      </Panel>
    </div>
  )
}

function Fields(props: { options: readonly OptionSchema[]; form: SettingsForm }) {
  const starts = formRowStarts(props.options)
  return (
    <div className="tg-setting-fields">
      {props.options.map((option, index) => (
        <div key={option.key} className={fieldClass(option, starts.has(index))}>
          <SettingField option={option} form={props.form} />
        </div>
      ))}
    </div>
  )
}

function fieldClass(option: OptionSchema, isStart: boolean): string | undefined {
  if (isWide(option)) return 'tg-setting-wide'
  return isStart ? 'tg-setting-start' : undefined
}

/**
 * Reports whether the field of an option needs the full width of the form for its long lines. A
 * field for JSON does not need it, because lines of JSON are short.
 */
const isWide = ({ type }: OptionSchema): boolean => type.kind === 'lines' || type.kind === 'links'

type HistoryProps = { section: OptionSection }

function SectionHistory(props: HistoryProps) {
  const { t } = useTranslation()
  const texts = useOptionTexts()
  const [isOpen, setOpen] = useState(false)
  const title = texts.sectionTitle(props.section.id)
  return (
    <>
      <Button
        tone="quiet"
        size="small"
        icon="clock"
        label={t('settings.historyOf', { section: title })}
        onClick={() => setOpen(true)}
      />
      <Drawer
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('settings.historyOf', { section: title })}
        lead={t('settings.historyLead')}
      >
        {isOpen && <History {...props} />}
      </Drawer>
    </>
  )
}

function History({ section }: HistoryProps) {
  const { t } = useTranslation()
  const query = useInfiniteQuery(optionHistoryQuery(section.id))
  if (query.data === undefined) {
    if (query.error === null) return <Skeleton height={240} />
    return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  }
  const changes = query.data.pages.flatMap(({ items }) => items)
  if (changes.length === 0) {
    return (
      <EmptyState
        icon="clock"
        title={t('settings.historyNoneTitle')}
        body={t('settings.historyNoneBody')}
      />
    )
  }
  return (
    <>
      <ol className="tg-changes">
        {changes.map((change) => (
          <Change key={change.id} change={change} />
        ))}
      </ol>
      {query.hasNextPage && (
        <div className="tg-history-more">
          <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t('settings.historyMore')}
          </Button>
        </div>
      )}
    </>
  )
}

function Change({ change }: { change: OptionChange }) {
  const { t } = useTranslation()
  const texts = useOptionTexts()
  const { key, before, after, username, planned_id: planned, changed_at: at } = change
  return (
    <li>
      <h3>{texts.label(key)}</h3>
      <p className="tg-change-by">
        <span>{username === '' ? t('settings.bySystem') : username}</span>
        {planned > 0 && <span>{t('pricing.planned')}</span>}
        <Time at={at} style="stamp" />
        <code>{key}</code>
      </p>
      {before === null && <p className="tg-hint">{t('settings.beforeUnknown')}</p>}
      <OptionDiff
        before={before === null ? null : readableJson(before)}
        after={readableJson(after)}
      />
    </li>
  )
}

const LINES_MAX = 40

export function OptionDiff(props: { before: string | null; after: string }) {
  const { t } = useTranslation()
  const { before, after } = props
  const { removed, added } =
    before === null ? { removed: [], added: after.split('\n') } : changedLines(before, after)
  const lines = [
    ...removed.map((text) => ({ mark: '−', text, label: t('settings.before') })),
    ...added.map((text) => ({ mark: '+', text, label: t('settings.after') })),
  ]
  const rest = lines.length - LINES_MAX
  return (
    <>
      <ul className="tg-diff">
        {lines.slice(0, LINES_MAX).map(({ mark, text, label }) => (
          <li key={`${mark}${text}`} className={mark === '+' ? 'tg-diff-added' : 'tg-diff-removed'}>
            <span className="tg-visually-hidden">{label}</span>
            <span aria-hidden="true">{mark}</span>
            <code>{text.trim() === '' ? t('settings.empty') : text.trim()}</code>
          </li>
        ))}
      </ul>
      {rest > 0 && <p className="tg-hint">{t('settings.moreLines', { count: rest })}</p>}
    </>
  )
}
