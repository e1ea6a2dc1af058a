// Elements of the user interface: `h` of Preact with the types of its JSX, which are stricter. There is no JSX, since
// the modules are served as they are but for their types.
import {
  type Attributes,
  type ComponentChildren,
  h as create,
  type FunctionComponent,
  type JSX,
  type VNode,
} from 'preact'

type Elements = JSX.IntrinsicElements
type WithoutChildren<P> = Omit<P, 'children'> & { children?: ComponentChildren } & Attributes
type Props<P> =
  | WithoutChildren<P>
  | (Record<never, never> extends Omit<P, 'children'> ? null : never)

type DataAttributes = { [name: `data-${string}`]: string | number | boolean | undefined }

/**
 * `h('a', { href: 'series' }, 'Series')`, `h(Button, { icon: 'add' }, 'Add')`; null for no attributes. A generic
 * component needs its type: `h(Select<Theme>, { … })`.
 */
export const h = create as {
  <K extends keyof Elements>(
    name: K,
    attributes: (Elements[K] & DataAttributes) | null,
    ...children: ComponentChildren[]
  ): VNode
  <P>(component: FunctionComponent<P>, props: Props<P>, ...children: ComponentChildren[]): VNode
}

export type { ComponentChildren }
