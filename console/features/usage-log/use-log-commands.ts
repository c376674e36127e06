import { useTranslation } from 'react-i18next'
import { useCommands } from '#console/ui/commands/command.ts'

/** Registers the log's shortcuts. A copied link includes settings stored only in this browser. */
export function useLogCommands(acts: {
  isPaused: boolean
  onPause: () => void
  onRefresh: () => void
  onCopyLink: () => void
  onExport: () => void
  onExportColumns: () => void
}): void {
  const { t } = useTranslation()
  const { isPaused } = acts
  useCommands([
    {
      id: 'log-pause',
      title: isPaused ? t('usageLog.resume') : t('usageLog.pause'),
      keys: 'p',
      icon: isPaused ? 'play' : 'pause',
      act: acts.onPause,
    },
    { id: 'refresh', title: t('ui.refresh'), keys: 'r', icon: 'refresh', act: acts.onRefresh },
    {
      id: 'log-export',
      title: t('usageLog.exportAs.csv'),
      keys: 'e',
      icon: 'download',
      act: acts.onExport,
    },
    {
      id: 'log-export-columns',
      title: t('usageLog.exportColumns'),
      icon: 'columns',
      act: acts.onExportColumns,
    },
    { id: 'copy-link', title: t('words.copyLink'), keys: 'c', icon: 'link', act: acts.onCopyLink },
  ])
}
