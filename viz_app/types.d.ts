// Types that several modules share; `tsc -p jsconfig.json` checks all JavaScript with them. Nothing of this reaches a browser.

/**
 * Labels of Python in the language of the page. A key that is written out must be one of them; one that is put together,
 * as in texts[`kind_${kind}`], may be any. The types of each component are in generated.d.ts: components/types.py.
 */
type Labels<Key extends string> = Record<Key, string> & Record<string, string>;
type Texts = LessonTexts;

type Attribute = string | number | boolean | null | undefined | ((event: any) => void);
type Attributes = Record<string, Attribute>;

/** A head, all numbers from 0: `index` within its kind. `place` is its name, such as cross.6.8; `name` within its kind. */
type Head = { kind: Kind; layer: number; head: number; index: number; place: string; name: string };

/** Whose attention. */
type Kind = "encoder" | "decoder" | "cross";
type Theme = import("./components/common/draw/theme.js").Theme;
type Axis = import("./components/common/draw/plot.js").Axis;

/** Colours as Python sends them: "#rrggbb", and tables of RGB triples in base 64. */
type Palette = {
  kinds: Record<Kind, string> & Record<string, string>;
  hatch: string;
  scale: string;
  diverging: string;
};
type Palettes = { light: Palette; dark: Palette };

type Point = { x: number; y: number };
type Box = { x: number; y: number; width: number; height: number };

type TextStyle = {
  colour: string;
  font: string;
  size?: number;
  weight?: number;
  align?: string; // as of a canvas, and so is the baseline
  baseline?: string;
  most?: number;
  turn?: number;
};

type LineStyle = { colour: string; width?: number; dash?: number[]; alpha?: number };

/** The data-* attributes of the app. */
interface DOMStringMap
  extends Partial<
    Record<
      | "branch"
      | "class"
      | "compare"
      | "head"
      | "index"
      | "kind"
      | "node"
      | "parent"
      | "place"
      | "row"
      | "session"
      | "state"
      | "unfolded"
      | "view"
      | "zoom",
      string
    >
  > {}

// ---- What Streamlit gives to a component that it mounts

type Mounted<Data = any> = {
  data: Data;
  parentElement: HTMLElement;
  setStateValue: (name: string, value: any) => void;
  setTriggerValue: (name: string, value: any) => void;
};

/** A link to what is on the screen, its QR code, or the command that opens the app to others: ui/share_menu.py. */
type ShareCode = { url: string; rows: string[] | null; command: string; texts: ShareTexts; language: string };

// ---- The class

/** A class as a browser may see it: classroom/routes.py. */
type ClassView = {
  teacher: boolean;
  students: number;
  /** Number of the poll, from 1; 0 before the first. */
  poll: number;
  state: "open" | "closed" | "revealed";
  question: ClassQuestion | null;
  answers: number;
  mine: number | null;
  /** Options with how many chose them; null for what students do not see yet. */
  counts: [number, number][] | null;
  place: { page: string; params: Record<string, string>; view: string } | null;
  moves: number;
};
/** "choices", or "map": a token of a row, or a cell of several rows. */
type ClassQuestion = {
  kind: string;
  title: string;
  prose: Markup[];
  choices?: Markup[][];
  queries?: string[];
  keys?: string[];
  weights?: number[] | null;
  right: number | null;
  answer: Markup[];
};
/** What Python gives the teacher's board: classroom/board.py. */
type BoardData = { address: string; code: string; share: ShareCode; texts: ClassTexts; language: string };

// ---- Lessons

type NdArray = import("./lessons/stage/js/arrays.js").NdArray;
type Arrays = Record<ArrayName, NdArray> & Record<string, NdArray>;
type Scene<Values = any> = import("./lessons/stage/js/scene.js").Scene<Values>;
type Lesson = import("./lessons/stage/js/lesson.js").Lesson;

type SceneClasses = Record<string, new (lesson: LessonData, texts: Texts) => Scene>;

/** Numbers, words and switches of a scene, by the names of its controls. */
type Settings = Partial<Record<SettingName, any>> & Record<string, any>;

/** What Python sends for a lesson: lessons/stage/payload.py; `values` and `arrays` are those of its numbers.py. */
type LessonData<Values = any> = {
  id: string;
  name: string;
  language: string;
  texts: Texts;
  values: Values;
  arrays: Arrays;
  /** For which settings Python computed the numbers. */
  answers: Settings;
  colours: Palettes;
  scenes: SceneWords[];
  state: { scene: string; settings: Settings };
  onward: string | null;
  /** The scenes that a route shows; empty for all. */
  core: string[];
  on_route: boolean;
  /** Of a page without Python: by scene, the controls that it has answers for. */
  prepared: Record<string, string[]> | null;
  share: ShareCode | null;
};

/** A finding that was pinned: the scene as it stood, what stood below it, and of which sentence and model. */
type Finding = { scene: string; settings: Settings; title: string; said: string; text: string; model: string };

/** The prose of a scene. */
type SceneWords = {
  name: string;
  title: string;
  /** The title, or a short name in its place. */
  tab: string;
  section: string;
  math: Markup[];
  prose: Markup[];
  question: QuestionWords | null;
};
type QuestionWords = { choices: { text: Markup[]; right: boolean }[]; answer: Markup[] };

/** A node of prose: text, or a tag with attributes and children. */
type Markup = string | [string, Record<string, string>, Markup[]];

type Pen = import("./lessons/stage/js/pen.js").Pen;

type Playhead = {
  name: string;
  label: string;
  min: number;
  max: number;
  step: number;
  rate: number;
  start?: number;
  loop?: boolean;
  once?: boolean;
  show?: (value: number) => string;
};

/** A control of a scene; which other fields it has, its kind says: see scene.js. */
type Control = {
  name: string;
  kind: string;
  label?: string;
  show?: any;
  start?: any;
  server?: boolean;
  where?: (settings: Settings) => boolean;
  read?: (settings: Settings) => any;
  patch?: (value: any) => Settings;
  [field: string]: any;
};

type TableData = { columns: string[]; rows: (string | number)[][] };

/** A field for a number over the picture, in its pixels; see lessons/stage/js/fields.js. */
type NumberField = Box & { key: string; size: number; value: string; label: string };

/** lessons/stage/lesson.css, put before all modules of a lesson by Python. */
declare const D3: D3Hierarchy;

/** Put before the code of a component by Python. */
declare const STYLE: string;
/** Hash of each file of a site by its path: standalone/site_folder.py. */
declare const FILES: Record<string, string>;
declare const GLOSSARY: Glossary;
/** For each language the words that explain themselves: by name the word and its explanation; text/glossary.py. */
type Glossary = Record<string, Record<string, [string, string]>>;

// ---- The explorer

type Store = import("./components/explorer/js/store.js").Store;
/** What is selected; store.js says what the fields besides the selection mean. */
type State = ExplorerSelection & {
  opens: ExplorerSelection["view"];
  viewChosen: boolean;
  off: string | null;
  gloss: number[];
  cursor: Cursor | null;
  spot: Cursor | null;
  playing: boolean;
  table: boolean;
  beam: boolean;
  [name: string]: any;
};
/** What findings.py finds out. */
type HeadRole =
  | { role: string; standing: string; share: number; chance: number; places: number }
  | { words: string; clear: boolean }; // of an atlas
type Without = {
  model: string;
  source: string;
  head: string;
  before: number;
  after: number;
  worst: [string, number, number]; // a token, and its probability before and after
  words: [string, boolean][];
  original: [string, boolean][];
};
/** The head that a sentence needs most, and its rank by effect among the heads that were measured. */
type NeededHead = { model: string; source: string; head: string | null; rank: number; count: number };
/** A measure of a head atlas: explorer_view/head_measures.py; `rank` instead of the value sorts. */
type HeadMeasure = {
  name: string;
  label: string;
  note: string;
  unit: string;
  digits: number;
  descending: boolean;
  kinds: Record<
    string,
    Record<"value", (number | null)[]> & Partial<Record<"low" | "high" | "baseline" | "rank", (number | null)[]>>
  >;
};
type HeadFilter = { label: string; words: string; group: string };
/** `labels`: what filters compare with, of each head of a kind. */
type Roles = {
  model: string;
  atlas: boolean;
  problem?: string;
  heads: Record<string, HeadRole[][]>;
  measures: HeadMeasure[];
  filters: HeadFilter[];
  labels: Record<string, string[][]>;
};
type Measured = { value: number | null; low: number | null; high: number | null };
/** Effect minus that of a control. */
type ComparedEffect = Measured & { name: string; control: number | null; significant: boolean };
type EffectWithout = Measured & { baseline?: Measured; controls: ComparedEffect[] };
/** `change`: interval of the difference to the whole model; null in an older atlas. */
type BleuWithout = { bleu: number; half: number; whole: number; change: [number, number] | null };
/** The card of one head: explorer_view/head_card.py. */
type HeadCardData = {
  model: string;
  head: string;
  words: string;
  plain: string; // with how often the role fits
  clear: boolean;
  penalty: string; // that the model was trained with one; else empty
  evidence: (Measured & { words: string; part: string; data: string; baseline: number | null; places: number })[];
  looks?: {
    offsets: number[];
    shares: (number | null)[];
    entropy: Measured & { baseline: number | null; places: number };
    distance: Measured & { baseline: number | null; places: number };
    sentences: number;
    data: string;
  };
  effect?: EffectWithout & { significant: boolean; tokens: number; data: string };
  decode?: BleuWithout & { significant: boolean; sentences: number; data: string };
  flow?: Measured & { baseline: number | null; sentences: number; data: string };
  /** Tasks in whose circuits it is, with the difference of the metric as a whole, and what the null reaches. */
  circuits?: (Measured & { words: string; null: number; whole: number; pairs: number; edges: number; all: number })[];
  siblings?: {
    /** `model`: empty for this one. */
    heads: (Record<"distance" | "low" | "high", number | null> & {
      model: string;
      layer: number;
      head: number;
      words: string;
    })[];
    typical: number | null;
    uniform: number | null;
    sentences: number;
    data: string;
  };
  examples?: {
    text: string;
    target: string;
    at: number;
    query: string;
    key: string;
    weight: number | null;
    fits: boolean;
    fixed?: boolean; // its sentence cannot be shown
  }[];
  source: { weights: string; seeds: number[]; versions: string[]; data: string[] };
};
type Free = { model: string; source: string; nodes: [string, number, number][]; repairs: Record<string, number> };
/** What each word is made of: explorer_view/flow.py; of a contrast only `words[at]` is there. Positions count from 0. */
type FlowData = {
  model: string;
  source: string;
  /** Of the translation. */
  tokens: string[];
  /** The token that the word at `at` is compared with; null for the mean of the vocabulary. */
  against: string | null;
  at: number | null;
  words: (FlowWord | null)[];
  /** What the logit lens reads, by state of the decoder and position. */
  lens: string[][];
};
/** The parts of one logit; `source`, `inputs` and `biases` sum to it. */
type FlowWord = {
  logit: number;
  source: number[];
  inputs: number[];
  biases: number;
  total: number; // sum of the sizes of all ways
  count: number; // ways that are not 0
  ways: number[]; // kind (0 encoder, 1 decoder, 2 cross), layer, query and key of each, largest first
  flows: number[];
  heads: number[][]; // head and flow of the largest heads of each way
  states: Record<"encoder" | "decoder", number[][]>;
  residuals: Record<"encoder" | "decoder", number[][]>;
  neurons: number[]; // stack (0 encoder, 1 decoder), layer, position, neuron and flow of each
};
/** The best beginning of a translation so far: its tokens, and the rows that are new since the draft before. */
type Draft = {
  axes: ExplorerHeader["axes"];
  /** Position of the decoder whose row is the first that comes; 0 in the first draft of a search, or in all. */
  from: number;
  /** A byte for each weight. Of each new position in turn: self-attention, (L, h, position + 1), then (L, h, S). */
  rows: Uint8Array;
  /** (L, h, S, S); null where the search does not know them. */
  encoder: Uint8Array | null;
};
type Findings = {
  roles?: Roles | null;
  card?: HeadCardData | null;
  off?: Without | null;
  needed?: NeededHead | null;
  free?: Free | null;
  flow?: FlowData | null; // null: the model has none
  contrast?: FlowData | null;
  draft?: Draft | null; // null: none goes on
};
type Translation = import("./components/explorer/js/data/data.js").Translation;
type View = import("./components/explorer/js/data/headview.js").HeadView;
type Views = Record<Kind, View>;
/** A matrix that map, lines and tables show: HeadMatrix of labelledmatrix.js, TokenMatrix of token.js. */
type LabelledMatrix = {
  view: View;
  name: string;
  kind: Kind;
  unit: string;
  step: number;
  causal: boolean;
  queries: Position[];
  keys: Position[];
  others: Position[];
  rows: number;
  columns: number;
  heads?: number[][] | null;
  /** How many rows belong together. */
  groups?: number;
  /** Whether the rows tell what a key receives. */
  received?: boolean;
  query?: number | null;
  key?: number | null;
  at(query: number, key: number): number;
  masked(query: number, key: number): boolean;
  rowSum(query: number): number;
  favourite(query: number, allowed?: (position: Position) => boolean): number;
};
type Picture = import("./components/explorer/js/draw/picture.js").Picture;
type Search = import("./components/explorer/js/data/search.js").Search;
type Measures = import("./components/explorer/js/data/measures.js").Measures;
type Difference = import("./components/explorer/js/data/difference.js").Difference;
type Figure = import("./components/explorer/js/figure.js").Figure;

type Block = import("./components/explorer/js/draw/block.js").Block;
type Tile = import("./components/explorer/js/draw/block.js").Tile;
/** A token or a word on an axis; `first` and `last` are its tokens. */
type Position = {
  text: string;
  start: boolean;
  special: boolean;
  first: number;
  last: number;
  next?: string;
  layer?: number;
  head?: number;
};

/** A cell of a map under the pointer or of the keyboard. */
type Cursor = { query: number | null; key: number | null; spoken?: boolean };
type Cell = { query: number; key: number };

/** How many there are of a kind of attention, and where its weights start in the payload. */
type KindShape = {
  layers: number;
  heads: number;
  queries: number;
  keys: number;
  offset: number;
  rows: number;
  /** Heads that a layer of another program's model lacks, as layer * heads + head. */
  absent?: number[];
};

type AxisName = "source" | "inputs" | "outputs";

/** The header of an explorer's payload: components/explorer/payload.py. */
type ExplorerHeader = {
  version: number;
  id: string;
  bits: number;
  resolution: number;
  /** A model of another program may lack some; `Translation.available` lists them. */
  kinds: Record<Kind, KindShape>;
  axes: Record<AxisName, { tokens: string[]; words: number[]; special: boolean[] }>;
  finished: boolean;
  /** For each written token its probability, and the alternatives with theirs; empty where none are known. */
  steps: [number, [string, number][]][];
  languages: { source: string; target: string };
  colours: Palettes;
  texts: ExplorerTexts;
  /** Alignment error rates by kind, layer and head. */
  alignment: Record<Kind, number[][]>;
  about?: {
    text: string;
    source?: string;
    model: string;
    own: string;
    models: string[];
    titles?: Record<string, string>;
    /** Tokens that the translation was forced to begin with: of the selection, as far as these maps have it. */
    force?: string;
    /** Of a page without Python: whether any head can be switched off, or the one that is needed most,
     * tokens forced or the flow
     * computed (false: it is there, but no comparison), the branches that are there, and the model as commands name it. */
    answers?: {
      off?: boolean;
      needed?: boolean;
      branches?: number[];
      force?: boolean;
      checkpoint?: string;
      flow?: boolean;
    };
  };
  beam?: BeamData;
  tree?: TreeData;
  /** The selection of a fresh component, and what it is before anything is chosen. */
  selection: ExplorerSelection;
  defaults: ExplorerSelection;
  /** The view of all heads that such a model opens with. */
  opens: ExplorerSelection["view"];
  /** Of the component. */
  key?: string;
  off?: string;
  gloss: number[];
  follow: boolean;
};

/** The tree of a parser's sentence as serving/parse_tree.py sends it. */
type TreeData = {
  words: string[];
  spans: [number, number][];
  marks: (number | null)[];
  nodes: {
    label: string;
    parent: number;
    begin: number;
    end: number;
    opening: number | null;
    closing: number | null;
  }[];
  repairs: Record<string, number>;
  text: string;
  others: { branch: number; score: number; nodes: [string, number, number][] }[];
  constrained: boolean;
};

/** A constituent (`node`), a word (`word`), or all words of a collapsed constituent (`whole`). */
type TreeItem = { text: string; node: number; word: number; whole?: number; children: TreeItem[] };

/** What is used of d3-hierarchy. */
type D3Node = {
  data: TreeItem;
  x: number;
  y: number;
  depth: number;
  height: number;
  parent: D3Node | null;
  children?: D3Node[];
  leaves(): D3Node[];
  descendants(): D3Node[];
};
type D3Cluster = {
  (root: D3Node): D3Node;
  nodeSize(size: [number, number]): D3Cluster;
  separation(between: (a: D3Node, b: D3Node) => number): D3Cluster;
};
type D3Hierarchy = { hierarchy(data: TreeItem): D3Node; cluster(): D3Cluster };

/** A beam search as serving/search_tree.py sends it; lists have one entry a node. */
type BeamData = {
  id: string;
  size: number;
  alpha: number;
  penalty: string;
  shown: number;
  hypotheses: number;
  parent: number[];
  step: number[];
  token: number[];
  own: number[];
  total: number[];
  status: string;
  leaves: number[];
  end: number;
  tokens: string[];
};
