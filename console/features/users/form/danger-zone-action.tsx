import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import type { IconName } from '#console/ui/elements/icons.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { User } from '#read-api/contract/users.ts'
import { displayNameOf } from '../user-state-and-permitted-actions.ts'

/**
 * A button for an action that can't be undone. To confirm the action, the admin must type the
 * username of the affected user.
 */
export function DangerZoneAction(props: {
  user: User
  action: 'erase' | 'secondFactor'
  icon: IconName
  actionText: string
  perform: () => Promise<void>
}) {
  const { t } = useTranslation()
  const { user, action } = props
  const { username } = user
  const [isAsking, setAsking] = useState(false)
  const form = useDraftForm({
    initial: () => ({ name: '' }),
    onClose: () => setAsking(false),
    save: async ({ name }) => {
      if (name.trim() !== username) throw new FieldError({ name: t('users.error.nameDiffers') })
      await props.perform()
      form.close()
    },
  })
  return (
    <section className="tg-user-part tg-user-danger">
      <div>
        <h3>{t(`users.${action}`)}</h3>
        <p className="tg-hint">{t(`users.${action}Hint`)}</p>
      </div>
      <Button icon={props.icon} onClick={() => setAsking(true)}>
        {t(`users.${action}Open`)}
      </Button>
      <FormDialog
        isOpen={isAsking}
        role="alertdialog"
        title={t(`users.${action}Title`, { name: displayNameOf(user) })}
        lead={t(`users.${action}Body`)}
        submitText={props.actionText}
        tone="danger"
        form={form}
      >
        <TextField
          label={t('users.typeName', { name: username })}
          autoComplete="off"
          {...form.field('name')}
        />
      </FormDialog>
    </section>
  )
}
