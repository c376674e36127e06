import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { optionHistoryQuery } from '#console/api/options.ts'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import type { OptionChange, OptionSection } from '#read-api/contract/options.ts'
import { changedLines } from './compare-and-merge-option-changes.ts'
import { readableJson } from './json-map.ts'
import { useOptionTexts } from './use-option-texts.ts'

type HistoryProps = { section: OptionSection }

/** A button that opens the history of changes to the options of a section. */
export function SectionHistory(props: HistoryProps) {
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

/** Shows the lines that a change of an option has removed and added. */
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
