import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { MailDialog } from './mail-dialog.tsx'
import type { MePanelProps } from './me-panel.ts'

/** The own mail address: it logs in, and gets the link that resets a forgotten password. */
export function MailPanel({ user }: MePanelProps): ReactElement {
  const { t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const address = user?.email ?? ''
  return (
    <Panel title={t('auth.email')}>
      <ul className="tg-me-rows">
        <li>
          <div>
            <p className="tg-me-row-title">{address || t('auth.noMail')}</p>
            <p className="tg-hint">{t('auth.mailLead')}</p>
          </div>
          <Button isDisabled={user === undefined} onClick={() => setOpen(true)}>
            {address === '' ? t('auth.bindMail') : t('auth.changeMail')}
          </Button>
        </li>
      </ul>
      <MailDialog isOpen={isOpen} onClose={() => setOpen(false)} />
    </Panel>
  )
}
