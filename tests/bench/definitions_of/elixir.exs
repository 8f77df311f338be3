# Prints the definitions of Elixir, found by its own parser: path, line, name. Paths are read from standard input.
defmodule Definitions do
  @heads [:def, :defp, :defmacro, :defmacrop, :defdelegate, :defguard, :defguardp, :defn]
  @modules [:defmodule, :defprotocol]
  @types [:type, :typep, :opaque, :callback, :macrocallback]

  def of(path) do
    case Code.string_to_quoted(File.read!(path), file: path) do
      {:ok, tree} ->
        tree |> found([], true) |> Enum.each(fn {line, name} -> IO.puts("#{path}\t#{line}\t#{name}") end)
        IO.puts("#{path}\t0\t")

      _ ->
        :ok
    end
  end

  # Code inside quote is the definition of another module.
  defp found({:quote, _, _}, all, _), do: all
  defp found({head, _, [first | rest]}, all, true) when head in @heads, do: found(rest, named(first, all), false)

  defp found({head, meta, [{:__aliases__, _, names} | rest]}, all, _) when head in @modules do
    found(rest, [{meta[:line], Enum.map_join(names, ".", &to_string_or/1)} | all], true)
  end

  defp found({:@, _, [{type, _, [first]}]}, all, true) when type in @types, do: named(first, all)
  defp found({_, _, arguments}, all, own) when is_list(arguments), do: found(arguments, all, own)
  defp found({left, right}, all, own), do: found(right, found(left, all, own), own)
  defp found(list, all, own) when is_list(list), do: Enum.reduce(list, all, &found(&1, &2, own))
  defp found(_, all, _), do: all

  defp to_string_or({:__MODULE__, _, _}), do: "__MODULE__"
  defp to_string_or(name), do: to_string(name)

  defp named({operator, _, [left, _]}, all) when operator in [:when, :"::"], do: named(left, all)
  defp named({:unquote, _, _}, all), do: all
  defp named({name, meta, _}, all) when is_atom(name), do: [{meta[:line], name} | all]
  defp named(_, all), do: all
end

IO.stream(:stdio, :line) |> Enum.each(&Definitions.of(String.trim_trailing(&1)))
