import { useTranslation } from 'react-i18next'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { User } from '#read-api/contract/users.ts'

/** Requires the username as confirmation of an irreversible action. */
export function TypedNameDialog(props: {
  user: User
  isOpen: boolean
  title: string
  body: string
  actionText: string
  /** Runs the action and closes the dialogs. Rejects if the action fails. */
  act: () => Promise<void>
  onClose: () => void
}) {
  const { t } = useTranslation()
  const { username } = props.user
  const form = useDraftForm({
    initial: () => ({ name: '' }),
    onClose: props.onClose,
    save: async ({ name }) => {
      if (name.trim() !== username) throw new FieldError({ name: t('users.fault.nameDiffers') })
      await props.act()
      form.close()
    },
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
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
  )
}
