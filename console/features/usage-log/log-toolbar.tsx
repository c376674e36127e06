import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { loadTranslations } from '#console/i18n/i18n.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { useRegisterActions } from '#console/ui/actions/action-registry.ts'
import { ActionButton, Button } from '#console/ui/elements/button.tsx'
import { MenuButton } from '#console/ui/elements/menu.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { useIsNarrow } from '#console/ui/state/use-media-query.ts'
import type { LogStat } from '#read-api/contract/logs.ts'
import type { LogFilters } from './log-url-params.ts'
import type { ExportState } from './use-export.ts'

const ExportDrawer = lazy(async () => {
  const [module] = await Promise.all([import('./export-drawer.tsx'), loadTranslations('pages')])
  return { default: module.ExportDrawer }
})

export function LogToolbar(props: {
  exporting: ExportState
  onRefresh: () => void
  onCopyLink: () => void
  children: ReactNode
}) {
  const { t } = useTranslation()
  const { exporting } = props
  const { rows, isDrawerOpen } = exporting
  // The drawer stays mounted after its first use, so that its closing is animated.
  const [wasDrawerOpen, setWasDrawerOpen] = useState(isDrawerOpen)
  if (isDrawerOpen && !wasDrawerOpen) setWasDrawerOpen(true)
  const number = useNumberFormat()
  const refresh = {
    id: 'refresh',
    title: t('ui.refresh'),
    keys: 'r',
    icon: 'refresh',
    perform: props.onRefresh,
  } as const
  const copyLink = {
    id: 'copy-link',
    title: t('shared.copyLink'),
    keys: 'c',
    icon: 'link',
    perform: props.onCopyLink,
  } as const
  useRegisterActions([refresh, copyLink])
  return (
    <>
      <ActionButton action={refresh} />
      <ActionButton action={copyLink} />
      {props.children}
      {rows === null ? (
        <ExportMenu exporting={exporting} />
      ) : (
        <Button icon="close" label={t('usageLog.exportCancel')} onClick={exporting.cancel}>
          {t('usageLog.exporting', { count: rows, rows: number.format(rows) })}
        </Button>
      )}
      <Suspense fallback={null}>{wasDrawerOpen && <Columns exporting={exporting} />}</Suspense>
    </>
  )
}

function ExportMenu({ exporting }: { exporting: ExportState }) {
  const { t } = useTranslation()
  const isNarrow = useIsNarrow()
  const { start, columns, setDrawerOpen } = exporting
  const [selected, all] = [columns.selected.length, columns.all.length]
  const csv =
    selected < all ? t('usageLog.exportSome', { selected, all }) : t('usageLog.exportAs.csv')
  const exports = [
    { id: 'log-export', title: csv, keys: 'e', perform: () => start('csv') },
    {
      id: 'log-export-ndjson',
      title: t('usageLog.exportAs.ndjson'),
      perform: () => start('ndjson'),
    },
  ]
  const columnsAction = {
    id: 'log-export-columns',
    title: t('usageLog.exportColumns'),
    perform: () => setDrawerOpen(true),
  }
  useRegisterActions([...exports, columnsAction])
  return (
    <MenuButton items={[...exports, 'divider', columnsAction]}>
      <Button icon="download" label={t('shared.export')}>
        {isNarrow ? undefined : t('shared.export')}
      </Button>
    </MenuButton>
  )
}

function Columns({ exporting }: { exporting: ExportState }) {
  const { columns, start, setDrawerOpen } = exporting
  return (
    <ExportDrawer
      isOpen={exporting.isDrawerOpen}
      all={columns.all}
      selected={columns.selected}
      onExport={(selected) => {
        columns.select(selected)
        start('csv', selected)
      }}
      onClose={() => setDrawerOpen(false)}
    />
  )
}

type Props = { readonly stat: LogStat | undefined; readonly type: LogFilters['type'] }

/** Shows totals of all rows that match the filters, and not only of the current page. */
export function LogSummary({ stat, type }: Props) {
  // Rows of other types are not about calls. For these, the total is the amount by which balances
  // were changed.
  const isCalls = type === 0 || type === 2 || type === 6
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const number = useNumberFormat()
  const figure = (read: (stat: LogStat) => string) =>
    stat === undefined ? <Skeleton width={50} /> : read(stat)
  return (
    <section className="tg-log-summary" aria-label={t('usageLog.summary')}>
      <dl>
        <Chip
          name={t(isCalls ? 'usageLog.cost' : 'usageLog.amount')}
          value={figure(({ quota }) => exactQuotaText(quotaOf(quota), rule))}
          isMain
        />
        <Chip
          name={t(isCalls ? 'shared.calls' : 'usageLog.entries')}
          value={figure(({ count }) => number.format(count))}
        />
        <Chip
          name={t('usageLog.prompt')}
          value={figure(({ prompt_tokens: tokens }) => number.format(tokens))}
        />
        <Chip
          name={t('usageLog.completion')}
          value={figure(({ completion_tokens: tokens }) => number.format(tokens))}
        />
        <Chip
          name={t('usageLog.rpm')}
          hint={t('usageLog.rpmHint')}
          value={figure(({ rpm }) => number.format(rpm))}
        />
        <Chip
          name={t('usageLog.tpm')}
          hint={t('usageLog.tpmHint')}
          value={figure(({ tpm }) => number.format(tpm))}
        />
      </dl>
    </section>
  )
}

function Chip(props: { name: string; value: ReactNode; hint?: string; isMain?: boolean }) {
  return (
    <div className={props.isMain === true ? 'tg-log-chip tg-log-chip-main' : 'tg-log-chip'}>
      <dt title={props.hint}>{props.name}</dt>
      <dd>{props.value}</dd>
    </div>
  )
}
