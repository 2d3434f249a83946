import { dirname, join } from 'node:path';
import ts from 'typescript';

const types = join(dirname(require.resolve('@grafana/schema/package.json')), 'dist/types/raw');
const files = {
  dashboard: join(types, 'dashboard/x/types.gen.d.ts'),
  timeseries: join(types, 'composable/timeseries/panelcfg/x/types.gen.d.ts'),
  stat: join(types, 'composable/stat/panelcfg/x/types.gen.d.ts'),
} as const;

/**
 * Grafana publishes its dashboard schema as TypeScript types; JSON is compared with them here: fields that the type does not know,
 * fields that it requires, and values outside of its enumerations.
 */
export class PublishedTypes {
  private readonly program = ts.createProgram(Object.values(files), {
    strict: true,
    skipLibCheck: true,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    module: ts.ModuleKind.ESNext,
  });
  private readonly checker = this.program.getTypeChecker();

  /** What is wrong with the value, one line per fault; empty when it conforms. */
  faults(value: unknown, from: keyof typeof files, name: string): string[] {
    const source = this.program.getSourceFile(files[from]);
    const module = source && this.checker.getSymbolAtLocation(source);
    const symbol = module && this.checker.getExportsOfModule(module).find((each) => each.name === name);
    if (!symbol) throw new Error(`@grafana/schema has no ${name} in ${files[from]}`);
    return this.compare(value, this.checker.getDeclaredTypeOfSymbol(symbol), name);
  }

  private compare(value: unknown, type: ts.Type, at: string): string[] {
    if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return [];
    if (type.isUnion()) {
      // Of an object the faults that matter are those against the member that comes closest, not "is no null".
      const members = type.types.filter(
        (each) => typeof value !== 'object' || value === null || each.flags & ts.TypeFlags.Object,
      );
      const tries = members.map((each) => this.compare(value, each, at)).sort((a, b) => a.length - b.length);
      const best = tries[0] ?? [this.expected(value, type, at)];
      return best.length === 0 || typeof value === 'object' ? best : [this.expected(value, type, at)];
    }
    if (Array.isArray(value)) {
      const element = this.checker.isArrayType(type) ? this.checker.getTypeArguments(type as ts.TypeReference)[0] : undefined;
      if (!element) return [this.expected(value, type, at)];
      return value.flatMap((each, index) => this.compare(each, element, `${at}[${index}]`));
    }
    if (this.isObject(value)) {
      if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return [this.expected(value, type, at)];
      return this.compareFields(value, type, at);
    }
    return this.isOf(value, type) ? [] : [this.expected(value, type, at)];
  }

  private compareFields(value: Readonly<Record<string, unknown>>, type: ts.Type, at: string): string[] {
    const open = this.checker.getIndexInfoOfType(type, ts.IndexKind.String);
    const known = new Map(this.checker.getPropertiesOfType(type).map((property) => [property.name, property]));
    const missing = [...known.values()]
      .filter(({ name, flags }) => !(flags & ts.SymbolFlags.Optional) && value[name] === undefined)
      .map(({ name }) => `${at}.${name} is missing`);
    const wrong = Object.entries(value).flatMap(([name, field]) => {
      const property = known.get(name);
      const fieldType = property ? this.checker.getTypeOfSymbol(property) : open?.type;
      return fieldType ? this.compare(field, fieldType, `${at}.${name}`) : [`${at}.${name} is not known`];
    });
    return [...missing, ...wrong];
  }

  private isObject(value: unknown): value is Readonly<Record<string, unknown>> {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  }

  private isOf(value: unknown, type: ts.Type): boolean {
    if (type.isStringLiteral() || type.isNumberLiteral()) return type.value === value;
    if (type.flags & ts.TypeFlags.BooleanLiteral) return this.checker.typeToString(type) === String(value);
    if (type.flags & ts.TypeFlags.Null) return value === null;
    if (type.flags & ts.TypeFlags.Undefined) return value === undefined;
    const primitive = { string: ts.TypeFlags.String, number: ts.TypeFlags.Number, boolean: ts.TypeFlags.Boolean };
    return Object.entries(primitive).some(([name, flag]) => typeof value === name && (type.flags & flag) !== 0);
  }

  private expected(value: unknown, type: ts.Type, at: string): string {
    return `${at}: expected ${this.checker.typeToString(type)}, found ${JSON.stringify(value)?.slice(0, 60)}`;
  }
}
