import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { selfQuery } from '#console/api/account-queries.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { SUPER_ADMIN } from '#read-api/contract/roles.ts'
import { DeleteAccountDialog } from './delete-account-dialog.tsx'
import type { MePanelProps } from './me-panel-types.ts'
import { PasswordFields } from './password-fields.tsx'
import { useNewPassword } from './use-new-password.ts'

function PasswordDialog(props: { isOpen: boolean; hasPassword: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const { hasPassword } = props
  const client = useQueryClient()
  const title = hasPassword ? t('me.changePassword') : t('me.setPassword')
  const form = useNewPassword(hasPassword, async () => {
    if (!hasPassword) await client.invalidateQueries({ queryKey: selfQuery.queryKey })
    props.onClose()
  })
  const close = () => {
    form.reset()
    props.onClose()
  }
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={title}
      lead={hasPassword ? t('me.passwordLead') : t('me.firstPasswordLead')}
      submitText={title}
      form={form}
      onClose={close}
    >
      <PasswordFields form={form} />
    </FormDialog>
  )
}

export function PasswordAndDeletionPanel({ user }: MePanelProps) {
  const { t } = useTranslation()
  const [open, setOpen] = useState<'password' | 'delete' | null>(null)
  const mayDelete = user !== undefined && user.role < SUPER_ADMIN
  const hasPassword = user?.has_password !== false
  const close = () => setOpen(null)
  return (
    <Panel title={t('shared.account')}>
      <ul className="tg-me-rows">
        <li>
          <div>
            <p className="tg-me-row-title">{t('me.password')}</p>
            <p className="tg-hint">
              {hasPassword ? t('me.passwordLead') : t('me.firstPasswordLead')}
            </p>
          </div>
          <Button icon="key" onClick={() => setOpen('password')}>
            {hasPassword ? t('me.changePassword') : t('me.setPassword')}
          </Button>
        </li>
        {mayDelete && (
          <li>
            <div>
              <p className="tg-me-row-title">{t('me.deleteAccount')}</p>
              <p className="tg-hint">{t('me.deleteLead')}</p>
            </div>
            <Button tone="danger" icon="trash" onClick={() => setOpen('delete')}>
              {t('me.deleteAccount')}
            </Button>
          </li>
        )}
      </ul>
      <PasswordDialog isOpen={open === 'password'} hasPassword={hasPassword} onClose={close} />
      {mayDelete && (
        <DeleteAccountDialog isOpen={open === 'delete'} username={user.username} onClose={close} />
      )}
    </Panel>
  )
}
