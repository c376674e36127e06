import { useTranslation } from 'react-i18next'
import {
  closeScratchCopy,
  currentScratchCopy,
  useIsScratchCopyDeleted,
} from '#console/api/scratch-copy.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { stampText } from '#console/ui/elements/time-text.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'

/**
 * A banner above every page, which says that the console shows a scratch copy (the site as of an
 * earlier time), or that the server has deleted this copy. A button closes the copy.
 */
export function ScratchCopyBanner() {
  const { t } = useTranslation()
  const isCopyGone = useIsScratchCopyDeleted()
  const copy = currentScratchCopy()
  if (copy === null) return null
  const { position, as_of: asOf } = copy
  return (
    <p className="tg-copy-banner" role="status">
      <Icon name="clock" />
      <span>
        {isCopyGone
          ? t('shell.copyGone')
          : t('shell.copyBanner', { time: stampText(asOf), position: String(position) })}
      </span>
      <Button size="small" icon="logOut" onClick={closeScratchCopy}>
        {t('shell.copyLeave')}
      </Button>
    </p>
  )
}

/**
 * The page that is shown in place of another page, if a scratch copy does not contain the data of
 * that page.
 */
export function NotInCopyPage() {
  const { t } = useTranslation()
  return (
    <Page title={t('shell.copyTitle')}>
      <Panel>
        <EmptyState
          icon="eyeOff"
          title={t('shell.copyLacksPage')}
          body={<p>{t('shell.copyLacksPageLead')}</p>}
          action={<Button onClick={closeScratchCopy}>{t('shell.copyLeave')}</Button>}
        />
      </Panel>
    </Page>
  )
}
