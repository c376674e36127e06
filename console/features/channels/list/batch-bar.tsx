import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { ChosenBar } from '#console/ui/lists/chosen-bar.tsx'
import { BatchTagDialog } from '../tags/batch-tag-dialog.tsx'
import type { BatchActs } from './use-batch-actions.ts'
import type { useChosen } from './use-chosen.ts'
import type { Removals } from './use-removals.ts'

export function BatchBar(props: {
  chosen: ReturnType<typeof useChosen>
  batch: BatchActs
  remove: Removals['remove']
}): ReactElement {
  const { batch, chosen } = props
  const { picked } = chosen
  // Every action clears the selection when it is done.
  const onDone = chosen.chooseNone
  const { t } = useTranslation()
  const [isTagging, setTagging] = useState(false)
  const then = async (act: Promise<boolean>) => {
    if (await act) onDone()
  }
  return (
    <ChosenBar chosen={chosen}>
      <Button size="small" icon="play" onClick={() => void then(batch.setEnabled(picked, true))}>
        {t('words.enableChosen')}
      </Button>
      <Button size="small" icon="pause" onClick={() => void then(batch.setEnabled(picked, false))}>
        {t('words.disableChosen')}
      </Button>
      <Button size="small" icon="tag" onClick={() => setTagging(true)}>
        {t('words.setTag')}
      </Button>
      <Button size="small" icon="trash" onClick={() => void then(props.remove(picked))}>
        {t('words.deleteChosen')}
      </Button>
      <BatchTagDialog
        isOpen={isTagging}
        count={picked.length}
        onClose={() => setTagging(false)}
        onTag={async (name) => {
          if (!(await batch.setTag(picked, name))) return false
          onDone()
          return true
        }}
      />
    </ChosenBar>
  )
}
