import type { Decider } from '../shared/decider.ts'
import { refuse } from '../shared/refusal.ts'
import type { OptionsCommand, SetOption, SetSecretOption } from './commands.ts'
import type { OptionsEvent } from './events.ts'
import type { OptionsRefusal } from './refusals.ts'
import { checkOption, OPTIONS, optionValue } from './registry.ts'
import { initialOptions, type OptionsState } from './state.ts'

type Outcome = readonly OptionsEvent[] | OptionsRefusal

export const optionsDecider: Decider<OptionsState, OptionsCommand, OptionsEvent, OptionsRefusal> = {
  initialState: initialOptions,
  decide: (command, state) =>
    command.type === 'SetOption' ? setOption(command, state) : setSecret(command, state),
  evolve: (state, event) => {
    if (event.type === 'OptionSet') state.values.set(event.data.key, event.data.value)
    else state.secretRefs.set(event.data.key, event.data.secretRef)
    return state
  },
}

function setOption({ key, value }: SetOption, { values }: OptionsState): Outcome {
  const checked = checkOption(key, value)
  if ('refused' in checked) return checked
  if (checked.value === optionValue(values, key)) return []
  return [{ type: 'OptionSet', v: 1, data: { key, value: checked.value } }]
}

function setSecret({ key, secretRef }: SetSecretOption, { secretRefs }: OptionsState): Outcome {
  const schema = OPTIONS.get(key)
  if (schema === undefined) return refuse('UnknownOption', { key: key.slice(0, 200) })
  if (!schema.isSecret) return refuse('InvalidOption', { key, fault: 'not-secret' })
  if ((secretRefs.get(key) ?? '') === secretRef) return []
  return [{ type: 'SecretOptionSet', v: 1, data: { key, secretRef } }]
}
