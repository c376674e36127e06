import { useTranslation } from 'react-i18next'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'

export function BatchTagDialog(props: {
  isOpen: boolean
  count: number
  onClose: () => void
  /** Returns true if all channels have the tag. */
  onTag: (tag: string) => Promise<boolean>
}) {
  const { t } = useTranslation()
  const form = useDraftForm({
    onClose: props.onClose,
    initial: () => ({ tag: '' }),
    validate: ({ tag }) => (tag.trim() === '' ? { tag: t('channelForm.fault.tagMissing') } : {}),
    save: async ({ tag }) => {
      if (await props.onTag(tag.trim())) form.close()
    },
    onRepeat: () => form.close(),
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={t('channelTags.batchTitle', { count: props.count })}
      submitText={t('words.setTag')}
      form={form}
      onClose={form.close}
    >
      <TextField
        label={t('channels.tag')}
        hint={t('channelTags.batchHint')}
        isRequired
        maxLength={200}
        {...form.field('tag')}
      />
    </FormDialog>
  )
}
