import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ChosenBar } from '#console/ui/lists/selection-bar.tsx'
import { BatchTagDialog } from '../tags/batch-tag-dialog.tsx'
import type { ChannelActions } from './use-channel-actions.ts'
import type { useChosen } from './use-channel-list.ts'

export function BatchBar(props: { chosen: ReturnType<typeof useChosen>; actions: ChannelActions }) {
  const { actions, chosen } = props
  const { picked } = chosen
  // Every action clears the selection when it is done.
  const onDone = chosen.chooseNone
  const { t } = useTranslation()
  const [isTagging, setTagging] = useState(false)
  const then = async (act: Promise<boolean>) => {
    if (await act) onDone()
  }
  const setEnabled = (isEnabled: boolean) => void then(actions.setAllEnabled(picked, isEnabled))
  const remove = () => void then(actions.remove(picked))
  return (
    <ChosenBar
      chosen={chosen}
      acts={[
        { icon: 'play', text: t('words.enableChosen'), act: () => setEnabled(true) },
        { icon: 'pause', text: t('words.disableChosen'), act: () => setEnabled(false) },
        { icon: 'tag', text: t('words.setTag'), act: () => setTagging(true) },
        { icon: 'trash', text: t('words.deleteChosen'), act: remove },
      ]}
    >
      <BatchTagDialog
        isOpen={isTagging}
        count={picked.length}
        onClose={() => setTagging(false)}
        onTag={async (name) => {
          if (!(await actions.setTag(picked, name))) return false
          onDone()
          return true
        }}
      />
    </ChosenBar>
  )
}
