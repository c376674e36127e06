import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { loadTranslations } from '#console/i18n/i18n.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { useRegisterActions } from '#console/ui/actions/action-registry.ts'
import { ActionButton, Button } from '#console/ui/elements/button.tsx'
import { MenuButton } from '#console/ui/elements/menu.tsx'
import { useIsNarrow } from '#console/ui/state/use-media-query.ts'
import type { ExportState } from './use-export.ts'

const ExportDrawer = lazy(async () => {
  const [module] = await Promise.all([import('./export-drawer.tsx'), loadTranslations('pages')])
  return { default: module.ExportDrawer }
})

/** The buttons of the usage log's page: refresh, copy the link, `children`, and export. */
export function LogPageActions(props: {
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
