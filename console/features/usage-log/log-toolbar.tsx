import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { loadTranslations } from '#console/i18n/i18n.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { MenuButton } from '#console/ui/elements/menu.tsx'
import { useIsNarrow } from '#console/ui/state/use-media.ts'
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
  return (
    <>
      <Button icon="refresh" label={t('ui.refresh')} onClick={props.onRefresh} />
      <Button icon="link" label={t('shared.copyLink')} onClick={props.onCopyLink} />
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
  const items = [
    { text: csv, onSelect: () => start('csv') },
    { text: t('usageLog.exportAs.ndjson'), onSelect: () => start('ndjson') },
    'divider',
    { text: t('usageLog.exportColumns'), onSelect: () => setDrawerOpen(true) },
  ] as const
  return (
    <MenuButton items={items}>
      <Button icon="download" label={t('usageLog.export')}>
        {isNarrow ? undefined : t('usageLog.export')}
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
