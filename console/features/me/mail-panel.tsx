import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { selfQuery } from '#console/api/me/self.ts'
import { unbind } from '#console/api/me/unbind.ts'
import { Button } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { showSuccess } from '#console/ui/toast.ts'
import { useSubmit } from '#console/ui/use-submit.ts'
import { MailDialog } from './mail-dialog.tsx'
import type { MePanelProps } from './me-panel.ts'
import { proven } from './proven.tsx'

/** The own mail address: it logs in, and gets the link that resets a forgotten password. */
export function MailPanel({ user }: MePanelProps): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [isOpen, setOpen] = useState(false)
  const address = user?.email ?? ''
  // The server refuses where it is the last way in, and says so.
  const lettingGo = useSubmit(async () => {
    const isSure = await confirm({
      title: t('auth.unbindMailTitle'),
      body: t('auth.unbindMailBody', { address }),
      confirmText: t('oauth.unbind'),
      tone: 'danger',
    })
    if (!isSure) return
    await proven(() => unbind('email'))
    await client.invalidateQueries({ queryKey: selfQuery.queryKey })
    showSuccess(t('auth.mailUnbound'))
  })
  return (
    <Panel title={t('auth.email')}>
      <ul className="tg-me-rows">
        <li>
          <div className="tg-me-mail">
            <p className="tg-me-row-title tg-me-address">{address || t('auth.noMail')}</p>
            <p className="tg-hint">{t('auth.mailLead')}</p>
          </div>
          <div className="tg-actions">
            {address !== '' && (
              <Button isBusy={lettingGo.isBusy} onClick={() => void lettingGo.submit()}>
                {t('oauth.unbind')}
              </Button>
            )}
            <Button isDisabled={user === undefined} onClick={() => setOpen(true)}>
              {address === '' ? t('auth.bindMail') : t('auth.changeMail')}
            </Button>
          </div>
        </li>
      </ul>
      <MailDialog isOpen={isOpen} bound={address} onClose={() => setOpen(false)} />
    </Panel>
  )
}
