import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import type { IconName } from '#console/ui/elements/icons.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { User } from '#read-api/contract/users.ts'

/** The user confirms the irreversible action by typing the username. */
export function DangerZoneAction(props: {
  user: User
  icon: IconName
  name: string
  hint: string
  openText: string
  title: string
  body: string
  actionText: string
  perform: () => Promise<void>
}) {
  const { t } = useTranslation()
  const { username } = props.user
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
        <h3>{props.name}</h3>
        <p className="tg-hint">{props.hint}</p>
      </div>
      <Button icon={props.icon} onClick={() => setAsking(true)}>
        {props.openText}
      </Button>
      <FormDialog
        isOpen={isAsking}
        role="alertdialog"
        title={props.title}
        lead={props.body}
        submitText={props.actionText}
        tone="danger"
        form={form}
        onClose={form.close}
      >
        <TextField
          label={t('users.typeName', { name: username })}
          autoComplete="off"
          spellCheck={false}
          {...form.field('name')}
        />
      </FormDialog>
    </section>
  )
}
