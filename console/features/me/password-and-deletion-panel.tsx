import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { selfQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { clearUser, startLogout } from '#console/api/session.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { retryWithIdentityProof } from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { SUPER_ADMIN } from '#read-api/contract/user-roles-and-statuses.ts'
import type { MePanelProps } from './me-panel-types.ts'
import { PasswordFields, useNewPassword } from './new-password-form.tsx'

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

function DeleteAccountDialog(props: { isOpen: boolean; username: string; onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const form = useDraftForm({
    initial: () => ({ typed: '' }),
    onClose: props.onClose,
    save: async ({ typed }) => {
      if (typed !== props.username) throw new FieldError({ typed: t('me.typeName') })
      await retryWithIdentityProof(() => call('DELETE /api/user/self'))
      startLogout()
      showSuccess(t('me.deleted'), { staysOnNavigation: true })
      clearUser()
      client.clear()
      await navigate('/login', { replace: true })
    },
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={t('me.deleteAccount')}
      lead={t('me.deleteWarning')}
      submitText={t('me.deleteForGood')}
      tone="danger"
      form={form}
    >
      <TextField
        label={t('me.nameToType', { name: props.username })}
        isRequired
        autoComplete="off"
        {...form.field('typed')}
      />
    </FormDialog>
  )
}
