import { useTranslation } from 'react-i18next'
import { useCommands } from '#console/ui/commands/use-commands.ts'

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
  useCommands([
    {
      id: 'log-pause',
      title: acts.isPaused ? t('usageLog.resume') : t('usageLog.pause'),
      section: 'page',
      keys: 'p',
      icon: acts.isPaused ? 'play' : 'pause',
      act: acts.onPause,
    },
    {
      id: 'refresh',
      title: t('ui.refresh'),
      section: 'page',
      keys: 'r',
      icon: 'refresh',
      act: acts.onRefresh,
    },
    {
      id: 'log-export',
      title: t('usageLog.exportAs.csv'),
      section: 'page',
      keys: 'e',
      icon: 'download',
      act: acts.onExport,
    },
    {
      id: 'log-export-columns',
      title: t('usageLog.exportColumns'),
      section: 'page',
      icon: 'columns',
      act: acts.onExportColumns,
    },
    {
      id: 'copy-link',
      title: t('words.copyLink'),
      section: 'page',
      keys: 'c',
      icon: 'link',
      act: acts.onCopyLink,
    },
  ])
}
