import { codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import {
  initialOptions,
  type OptionsCommand,
  type OptionsError,
  type OptionsState,
  type SetOption,
  type SetSecretOption,
} from './commands.ts'
import { decideSchedule } from './decide-scheduled-price-change.ts'
import type { OptionsEvent } from './events.ts'
import { checkOption, OPTIONS, optionValue } from './option-registry.ts'
import { isSame, setEvents, withoutConflicting } from './set-options.ts'

type Outcome = readonly OptionsEvent[] | OptionsError

export const optionsDecider: Decider<OptionsState, OptionsCommand, OptionsEvent, OptionsError> = {
  initialState: initialOptions,
  decide: (command, state) => {
    switch (command.type) {
      case 'SetOption':
        return setOption(command, state)
      case 'SetSecretOption':
        return setSecret(command, state)
      case 'ResetModelRatios':
        return setEvents(state.values, [['ModelRatio', defaultOf('ModelRatio')]])
      default:
        return decideSchedule(command, state)
    }
  },
  evolve,
}

function evolve(state: OptionsState, { type, data }: OptionsEvent): OptionsState {
  switch (type) {
    case 'OptionSet':
      state.values.set(data.key, data.value)
      break
    case 'SecretOptionSet':
      state.secretRefs.set(data.key, data.secretRef)
      break
    case 'PriceChangeScheduled':
      state.planned.set(data.id, data)
      state.lastPlannedId = data.id
      break
    case 'PriceChangeCancelled':
    case 'PriceChangeApplied':
    case 'PriceChangeFailed':
      state.planned.delete(data.id)
  }
  return state
}

function setOption({ key, value, before }: SetOption, { values }: OptionsState): Outcome {
  const checked = checkOption(key, value)
  if ('code' in checked) return checked
  const now = optionValue(values, key)
  const isCurrent = (text: string): boolean => isSame(key, text, now)
  if (before !== undefined && !isCurrent(before) && !isCurrent(checked.value)) {
    return codedError('OptionChanged', { key })
  }
  return setEvents(values, withoutConflicting(key, checked.value))
}

function setSecret({ key, secretRef }: SetSecretOption, { secretRefs }: OptionsState): Outcome {
  const schema = OPTIONS.get(key)
  if (schema === undefined) return codedError('UnknownOption', { key: key.slice(0, 200) })
  if (!schema.isSecret) return codedError('InvalidOption', { key, error: 'not-secret' })
  const before = secretRefs.get(key) ?? ''
  if (before === secretRef) return []
  return [{ type: 'SecretOptionSet', v: 2, data: { key, secretRef, before } }]
}

const defaultOf = (key: string): string => OPTIONS.get(key)?.defaultText ?? ''
